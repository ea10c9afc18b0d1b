import ignore, { type Ignore } from "ignore";

/** The rules of all `.gitignore` files from the mount down to a directory. */
export interface IgnoreRules {
  /** `path` is relative to the mount. Also true for what lies in an ignored directory. */
  ignores(path: string, kind: "file" | "directory"): boolean;
  /** The rules below a directory that has a `.gitignore` of its own. */
  with(directory: string, text: string): IgnoreRules;
}

export function ignoreRules(): IgnoreRules {
  return rulesOf([]);
}

/**
 * One list for all files: the deeper ones come later, and the last rule that matches decides. So a nested file can take
 * back what one above it ignored, as it does for git, which one list for each file could not tell.
 */
function rulesOf(patterns: readonly string[]): IgnoreRules {
  const list: Ignore = ignore({ ignorecase: false }).add(patterns);
  return {
    ignores: (path, kind) => list.ignores(kind === "directory" ? `${plain(path)}/` : plain(path)),
    with: (directory, text) => rulesOf([...patterns, ...anchored(directory, text)]),
  };
}

/** The rules of one file as rules of the mount. */
function anchored(directory: string, text: string): string[] {
  const prefix = directory === "" ? "" : `/${plain(directory).replaceAll(/[\\*?[\]!# ]/g, "\\$&")}`;
  return text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const sign = line.startsWith("!") ? "!" : "";
      const body = withoutTrailingSpaces(line.slice(sign.length));
      if (prefix === "") return `${sign}${body}`;
      if (body.startsWith("/")) return `${sign}${prefix}${body}`;
      return `${sign}${prefix}/${body.slice(0, -1).includes("/") ? "" : "**/"}${body}`;
    });
}

/** Git leaves them out too, unless a backslash stands before one. */
function withoutTrailingSpaces(pattern: string): string {
  return pattern.replace(/(?<!\\| ) +$/, "").replace(/(?<=\\ ) +$/, "");
}

/** No rule can name a line break; but one in a path would end what `**` stands for. */
function plain(path: string): string {
  return path.replaceAll(/[\n\r\u2028\u2029]/g, "\uFFFD");
}
