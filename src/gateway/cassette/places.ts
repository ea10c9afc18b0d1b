/**
 * What differs from one run to the next and means nothing. On a cassette it is a placeholder, such as `${WORKSPACE}`,
 * so that a trial can be replayed in another directory, by another user, on another day.
 */
export interface Places {
  /** A text of a request as it is compared. */
  readonly normalise: (text: string) => string;
  /** The same for what the command line tool of the engine says by itself, where versions vary as well. */
  readonly normaliseNotice: (text: string) => string;
  /** A text of an answer as it is recorded: only what an agent would use again is a placeholder. */
  readonly hide: (text: string) => string;
  /** An answer of a cassette as it is said in this run. */
  readonly fill: (text: string) => string;
  /** From now on the engine's id of a subagent stands for a thread of the cassette. */
  readonly name: (engineAgentId: string, thread: string) => void;
}

const VARYING: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "${UUID}"],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g, "${TIME}"],
  [/\b\d{4}-\d{2}-\d{2}\b/g, "${DATE}"],
  [/\b(duration_ms|subagent_tokens|total_tokens): \d+/g, "$1: ${NUMBER}"],
];

const VARYING_NOTICES: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/^( - (?:Platform|Shell|OS Version): ).*$/gm, "$1${MACHINE}"],
  [/<total_tokens>\d+ tokens left<\/total_tokens>/g, "<total_tokens>${NUMBER} tokens left</total_tokens>"],
  [/USD budget: .*$/gm, "USD budget: ${NUMBER}"],
  [/\bv?\d+\.\d+\.\d+(?:-[\w.]+)?\b/g, "${VERSION}"],
];

/** The engine makes them of an `a` and sixteen hexadecimal digits. */
const AGENT_ID = /\ba[0-9a-f]{16}\b/g;

export function placesOf(values: Readonly<Record<string, string>>, ignore: readonly RegExp[]): Places {
  // A directory may lie in another one that has a name as well.
  const known = Object.entries(values)
    .filter(([, value]) => value !== "")
    .toSorted(([, a], [, b]) => b.length - a.length);
  const threads = new Map<string, string>();
  const hidePlaces = (text: string): string =>
    known.reduce((sofar, [name, value]) => sofar.replaceAll(value, `\${${name}}`), text);
  const normalise = (text: string): string => {
    const named = hidePlaces(text).replace(AGENT_ID, "${AGENT}");
    const plain = ignore.reduce((sofar, pattern) => sofar.replace(pattern, "${IGNORED}"), named);
    return replaced(plain, VARYING);
  };
  return {
    normalise,
    normaliseNotice: (text) => normalise(replaced(text, VARYING_NOTICES)),
    hide: (text) =>
      hidePlaces(text).replace(AGENT_ID, (id) => {
        const thread = threads.get(id);
        return thread === undefined ? id : `\${${thread}}`;
      }),
    fill(text) {
      const placed = known.reduce((sofar, [name, value]) => sofar.replaceAll(`\${${name}}`, value), text);
      return [...threads].reduce((sofar, [id, thread]) => sofar.replaceAll(`\${${thread}}`, id), placed);
    },
    name: (engineAgentId, thread) => void threads.set(engineAgentId, thread),
  };
}

function replaced(text: string, rules: typeof VARYING): string {
  return rules.reduce((sofar, [pattern, placeholder]) => sofar.replace(pattern, placeholder), text);
}

/** The same value with every text in it changed. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)]));
}
