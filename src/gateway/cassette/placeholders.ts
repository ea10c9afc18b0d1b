/**
 * What differs from run to run without meaning. On a cassette it is a placeholder, such as `${WORKSPACE}`, so that a
 * trial can be replayed in another directory, by another user, on another day.
 */
export interface Placeholders {
  /** A text of a request in the form that is compared. */
  readonly normalise: (text: string) => string;
  /** The same for the engine CLI's own messages, where versions vary as well. */
  readonly normaliseNotice: (text: string) => string;
  /** Instructions and tool descriptions: everything in them is significant. */
  readonly normaliseMeant: (text: string) => string;
  /** A text of an answer in the form that is recorded: only what an agent would use again is a placeholder. */
  readonly hide: (text: string) => string;
  /** An answer of a cassette, with the values of this run. */
  readonly fill: (text: string) => string;
  /** Maps the engine's id of a subagent to a thread of the cassette. */
  readonly name: (engineAgentId: string, thread: string) => void;
}

const VARYING: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/\bsesn_[0-9a-f]{32}\b/g, "${SESSION_ID}"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "${UUID}"],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?/g, "${TIME}"],
  [/\b\d{4}-\d{2}-\d{2}\b/g, "${DATE}"],
  [/\b(duration_ms|subagent_tokens|total_tokens): \d+/g, "$1: ${NUMBER}"],
];

const VARYING_NOTICES: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/USD budget: .*$/gm, "USD budget: ${NUMBER}"],
  [/\bv?\d+\.\d+\.\d+(?:-[\w.]+)?\b/g, "${VERSION}"],
];

/** Text that the engine adds to a prompt. */
const VARYING_PROMPTS: typeof VARYING = [
  [/^( - (?:Platform|Shell|OS Version): ).*$/gm, "$1${MACHINE}"],
  [/<total_tokens>\d+ tokens left<\/total_tokens>/g, "<total_tokens>${NUMBER} tokens left</total_tokens>"],
  [/Today's date is \d{4}-\d{2}-\d{2}/g, "Today's date is ${DATE}"],
];

/** The engine's ids: an `a` and sixteen hex digits. */
const AGENT_ID = /\ba[0-9a-f]{16}(?:[0-9a-f]{16})?\b/g;

export function placeholdersOf(values: Readonly<Record<string, string>>, ignore: readonly RegExp[]): Placeholders {
  // A directory may be inside another named one.
  const known = Object.entries(values)
    .filter(([, value]) => value !== "")
    .toSorted(([, a], [, b]) => b.length - a.length);
  const threads = new Map<string, string>();
  const hidePlaces = (text: string): string =>
    known.reduce((sofar, [name, value]) => sofar.replaceAll(value, `\${${name}}`), text);
  const normalise = (text: string): string => {
    const named = hidePlaces(text).replace(AGENT_ID, "${AGENT}");
    const plain = ignore.reduce((sofar, pattern) => sofar.replace(pattern, "${IGNORED}"), named);
    return applyRules(plain, VARYING);
  };
  return {
    normalise,
    normaliseMeant: (text) => applyRules(hidePlaces(text).replace(AGENT_ID, "${AGENT}"), VARYING_PROMPTS),
    normaliseNotice: (text) => normalise(applyRules(applyRules(text, VARYING_PROMPTS), VARYING_NOTICES)),
    hide: (text) =>
      // The model's own text may look like a placeholder.
      hidePlaces(text.replaceAll("${", () => "$${")).replace(AGENT_ID, (id) => {
        const thread = threads.get(id);
        return thread === undefined ? id : `\${${thread}}`;
      }),
    fill: (text) =>
      text.replace(/\$\$\{|\$\{([\w-]+)\}/g, (written, name: string | undefined) => {
        if (name === undefined) return "${";
        return values[name] ?? [...threads].find(([, thread]) => thread === name)?.[0] ?? written;
      }),
    name: (engineAgentId, thread) => void threads.set(engineAgentId, thread),
  };
}

function applyRules(text: string, rules: typeof VARYING): string {
  return rules.reduce((sofar, [pattern, placeholder]) => sofar.replace(pattern, placeholder), text);
}

/** The same value with every text in it changed. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)]));
}
