import ignore, { type Ignore } from "ignore";

/** The rules of all `.gitignore` files from the mount down to a directory. */
export interface IgnoreRules {
  /** `path` is relative to the mount. Also true for everything in an ignored directory. */
  ignores(path: string, kind: "file" | "directory"): boolean;
  /** Adds the rules of a directory's own `.gitignore`. */
  with(directory: string, text: string): IgnoreRules;
}

export function ignoreRules(): IgnoreRules {
  return rulesOf([]);
}

/**
 * One list for all files: deeper ones come later, and the last matching rule decides. So a nested file can override one
 * above it, as in git, which separate lists could not do.
 */
function rulesOf(patterns: readonly string[]): IgnoreRules {
  const list: Ignore = ignore({ ignorecase: false }).add(patterns);
  return {
    ignores: (path, kind) => list.ignores(kind === "directory" ? `${plain(path)}/` : plain(path)),
    with: (directory, text) => rulesOf([...patterns, ...anchorRules(directory, text)]),
  };
}

/** Converts the rules of one file to rules of the mount. */
function anchorRules(directory: string, text: string): string[] {
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

/** Git removes them too, unless a backslash precedes one. */
function withoutTrailingSpaces(pattern: string): string {
  return pattern.replace(/(?<!\\| ) +$/, "").replace(/(?<=\\ ) +$/, "");
}

/** No rule can name a line break, but one in a path would end a `**` match. */
function plain(path: string): string {
  return path.replaceAll(/[\n\r\u2028\u2029]/g, "\uFFFD");
}
