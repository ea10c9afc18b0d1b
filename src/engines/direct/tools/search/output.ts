/** Parses ripgrep's `--null` output: a file name, a zero byte, and the rest of the line. */

export interface Match {
  readonly path: string;
  readonly line: number;
  /** `:` for a match, `-` for a context line. */
  readonly sign: string;
  readonly text: string;
}

export function readFiles(output: string): { readonly path: string }[] {
  return output
    .split("\0")
    .filter((path) => path !== "")
    .map((path) => ({ path }));
}

export function readCounts(output: string): { readonly path: string; readonly count: number }[] {
  return linesOf(output).map(({ path, rest }) => ({ path, count: Number(rest) }));
}

export function readMatches(output: string): Match[] {
  return linesOf(output).flatMap(({ path, rest }) => {
    const [, line = "", sign = "", text = ""] = /^(\d+)([:-])(.*)$/s.exec(rest) ?? [];
    return line === "" ? [] : [{ path, line: Number(line), sign, text: text.replace(/\r$/, "") }];
  });
}

/** Lines without a name are not matches: a separator between groups, or a note about a binary file. */
function linesOf(output: string): { readonly path: string; readonly rest: string }[] {
  return output.split("\n").flatMap((line) => {
    const end = line.indexOf("\0");
    return end < 0 ? [] : [{ path: line.slice(0, end), rest: line.slice(end + 1) }];
  });
}
