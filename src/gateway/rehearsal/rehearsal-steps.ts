/** One thing that the rehearsal model was asked to do. */
export type RehearsalStep =
  | { readonly kind: "list"; readonly directory: string | undefined }
  | { readonly kind: "read"; readonly file: string }
  | { readonly kind: "write"; readonly file: string; readonly text: string }
  /** Without texts it changes the first line. */
  | { readonly kind: "edit"; readonly file: string; readonly from?: string; readonly to?: string }
  | { readonly kind: "run"; readonly command: string }
  /** Any other tool, by the name that users know; without input it gets a plausible one. */
  | { readonly kind: "use"; readonly tool: string; readonly input: Readonly<Record<string, unknown>> | undefined }
  | { readonly kind: "ask"; readonly question: string; readonly options: readonly string[] }
  | { readonly kind: "review"; readonly file: string | undefined }
  | { readonly kind: "report"; readonly about: string }
  | { readonly kind: "think"; readonly about: string }
  | { readonly kind: "structure" }
  | { readonly kind: "fail"; readonly status: number };

type Groups = Readonly<Record<string, string | undefined>>;

const FILE = String.raw`(?<file>"[^"]+"|'[^']+'|\`[^\`]+\`|\S+)`;
const THE_FILE = String.raw`(?:(?: a| the)?(?: new)?(?: file)?(?: called| named)? )${FILE}`;
const HERE = "(?:this|the|my)(?: current)? (?:directory|folder|workspace|project)";

/** In order: the first that matches the whole step wins. */
const PATTERNS: readonly (readonly [pattern: string, read: (groups: Groups) => RehearsalStep])[] = [
  [
    `(?:list|show)(?: me)?(?: all)?(?: the)? files(?: here)?(?: (?:in|of|under) (?:${HERE}|${FILE}))?`,
    ({ file }) => ({ kind: "list", directory: file && name(file) }),
  ],
  [`ls(?: ${FILE})?`, ({ file }) => ({ kind: "list", directory: file && name(file) })],
  [
    `(?:write|create|make|save)${THE_FILE} (?:with|containing|saying)(?: the)?(?: text| contents?)?:? (?<text>.+)`,
    ({ file = "", text = "" }) => ({ kind: "write", file: name(file), text: unquote(text) }),
  ],
  [
    `(?:write|put|save) (?<text>.+) (?:to|into|in)${THE_FILE}`,
    ({ file = "", text = "" }) => ({ kind: "write", file: name(file), text: unquote(text) }),
  ],
  [
    `(?:replace|change) (?<from>.+?) (?:with|by|to|into) (?<to>.+) in${THE_FILE}`,
    ({ file = "", from = "", to = "" }) => ({ kind: "edit", file: name(file), from: unquote(from), to: unquote(to) }),
  ],
  [
    `(?:edit|change|update)${THE_FILE}[,:]? (?:and )?(?:replace|change) (?<from>.+?) (?:with|by|to|into) (?<to>.+)`,
    ({ file = "", from = "", to = "" }) => ({ kind: "edit", file: name(file), from: unquote(from), to: unquote(to) }),
  ],
  [`(?:edit|update)${THE_FILE}`, ({ file = "" }) => ({ kind: "edit", file: name(file) })],
  [`(?:read|open|show|view|cat|print)(?: me)?${THE_FILE}`, ({ file = "" }) => ({ kind: "read", file: name(file) })],
  [
    `(?:run|execute)(?: the)?(?: shell)?(?: command)?:? (?<command>.+)`,
    ({ command = "" }) => ({ kind: "run", command: unquote(command) }),
  ],
  [
    String.raw`(?:use|call)(?: the)?(?: tool)? (?<tool>[\w-]+)(?: with (?<input>\{.*\}))?`,
    ({ tool = "", input }) => ({ kind: "use", tool, input: input === undefined ? undefined : readInput(input) }),
  ],
  [`ask(?: me| us| the user)?(?: a question)?(?: about)?[:,]?(?: (?<what>.+))?`, ({ what }) => readQuestion(what)],
  [`review(?<what> .+)?`, ({ what }) => ({ kind: "review", file: fileIn(what ?? "") })],
  [`report(?: on| about)?(?: (?<about>.+))?`, ({ about }) => ({ kind: "report", about: about ?? "what I saw" })],
  [`think(?: hard)?(?: about| over)?(?: (?<about>.+))?`, ({ about }) => ({ kind: "think", about: about ?? "it" })],
  [`(?:return|give|produce|fill in)(?: me)?(?: the| a| some)? structured .+`, () => ({ kind: "structure" })],
  [`fail(?<how> .+)?`, ({ how }) => ({ kind: "fail", status: Number(/\b[45]\d\d\b/.exec(how ?? "")?.[0] ?? 400) })],
];

const COMPILED = PATTERNS.map(([pattern, read]) => [new RegExp(`^${pattern}$`, "is"), read] as const);
const POLITE = /^(?:(?:please|now|first|next|finally|can you|could you|would you)[,:]?\s+)+/i;
/** Separates two steps; text in quotes is skipped. A single quote opens only after a space: "don't". */
const THEN = /"[^"]*"|(?<=^|\s)'[^']*'|`[^`]*`|[\s,;.]*\b(?:and\s+)?then\b[\s,:]*/gi;

/** The steps of a request, or undefined if a part of it is not understood: then nothing is done. */
export function readSteps(request: string): readonly RehearsalStep[] | undefined {
  const steps = splitSteps(request)
    .filter((part) => part.trim() !== "")
    .map(readStep);
  return steps.every((step) => step !== undefined) ? steps : undefined;
}

function splitSteps(request: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (const match of request.matchAll(THEN)) {
    if (/^["'`]/.test(match[0])) continue;
    parts.push(request.slice(start, match.index));
    start = match.index + match[0].length;
  }
  return [...parts, request.slice(start)];
}

function readStep(part: string): RehearsalStep | undefined {
  const text = part.trim().replace(POLITE, "");
  // A full stop usually ends the sentence, but in `ls .` it is an argument.
  for (const candidate of [text, text.replace(/\s*[.!?]+$/, "")])
    for (const [pattern, read] of COMPILED) {
      const match = pattern.exec(candidate);
      if (match !== null) return read(match.groups ?? {});
    }
  return undefined;
}

/** Text that is not JSON is passed to the tool, whose answer says what is wrong. */
function readInput(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { text };
  }
}

function readQuestion(what: string | undefined): RehearsalStep {
  if (what === undefined) return { kind: "ask", question: "How shall I go on?", options: ["Carefully", "Quickly"] };
  const question = `${what.charAt(0).toUpperCase()}${what.slice(1).replace(/\?*$/, "")}?`;
  const choice = /((?:[\w-]+, )*[\w-]+),? or ([\w-]+)/.exec(what);
  const options = choice === null ? ["Yes", "No"] : [...(choice[1] ?? "").split(", "), choice[2] ?? ""];
  // The tool accepts at most four.
  return { kind: "ask", question, options: options.slice(0, 4) };
}

function fileIn(text: string): string | undefined {
  return /[\w./-]*[\w-][./][\w./-]*\w/.exec(text)?.[0];
}

function name(file: string): string {
  return unquote(file.replace(/(?<=[\w"'`])[,.;:!?]+$/, ""));
}

function unquote(text: string): string {
  return /^(["'`])([\s\S]*)\1$/.exec(text)?.[2] ?? text;
}
