const TOKEN =
  // oxlint-disable-next-line no-control-regex -- JSON forbids them in strings
  /(?<mark>[{}[\],:])|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const SPACE = /[ \t\n\r]*/y;

type Expected =
  | "value"
  | "value or ]"
  | "a name in quotes"
  | "a name in quotes or }"
  | ":"
  | ", or ]"
  | ", or }"
  | "the end";

/**
 * Finds where a text stops being JSON, and what was expected there. For texts that failed to parse: the engine does not
 * always say.
 */
export function jsonProblem(text: string): {
  readonly line: number;
  readonly column: number;
  readonly expected: string;
} {
  const open: ("[" | "{")[] = [];
  const afterValue = (): Expected => {
    const last = open.at(-1);
    if (last === undefined) return "the end";
    return last === "[" ? ", or ]" : ", or }";
  };
  let expected: Expected = "value";
  let at = skipSpace(text, 0);
  while (at < text.length) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (match === null) break;
    const next = step(match[0], expected, { open, afterValue });
    if (next === undefined) break;
    expected = next;
    at = skipSpace(text, at + match[0].length);
  }
  const before = text.slice(0, at);
  return {
    line: before.split("\n").length,
    column: at - before.lastIndexOf("\n"),
    expected: expected === "value" ? "a value" : expected.replace(/^value/, "a value"),
  };
}

function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  return from + (SPACE.exec(text)?.[0].length ?? 0);
}

/** What may follow the token; undefined if it is not allowed here. */
function step(
  token: string,
  expected: Expected,
  { open, afterValue }: { readonly open: ("[" | "{")[]; readonly afterValue: () => Expected },
): Expected | undefined {
  const mayBeValue = expected === "value" || expected === "value or ]";
  switch (token) {
    case "[":
    case "{":
      if (!mayBeValue) return undefined;
      open.push(token);
      return token === "[" ? "value or ]" : "a name in quotes or }";
    case "]":
      if (expected !== "value or ]" && expected !== ", or ]") return undefined;
      open.pop();
      return afterValue();
    case "}":
      if (expected !== "a name in quotes or }" && expected !== ", or }") return undefined;
      open.pop();
      return afterValue();
    case ",":
      if (expected === ", or ]") return "value";
      return expected === ", or }" ? "a name in quotes" : undefined;
    case ":":
      return expected === ":" ? "value" : undefined;
    default:
      if (token.startsWith('"') && expected.startsWith("a name")) return ":";
      return mayBeValue ? afterValue() : undefined;
  }
}
