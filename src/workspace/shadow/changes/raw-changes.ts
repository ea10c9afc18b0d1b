import { type BytePath, splitNul } from "../paths.ts";

/** One path of `--raw -z`. */
export interface RawChange {
  readonly path: BytePath;
  readonly status: string;
  readonly before: RawSide;
  readonly after: RawSide;
}

interface RawSide {
  /** In git's notation: `100644`, `100755`, `120000`; `000000` for nothing. */
  readonly mode: string;
  readonly hash: string;
}

export const LINK = "120000";
export const EXECUTABLE = "100755";

/** Parses the output of `git diff-tree -r --raw -z` and similar commands. */
export function rawChanges(output: Buffer): RawChange[] {
  return readRaw(splitNul(output)).changes;
}

export function readRaw(parts: readonly string[]): { readonly changes: RawChange[]; readonly rest: readonly string[] } {
  const changes: RawChange[] = [];
  let at = 0;
  for (; parts[at]?.startsWith(":") === true; at += 2) {
    const [from = "", to = "", before = "", after = "", status = ""] = (parts[at] ?? "").slice(1).split(" ");
    const path = parts[at + 1] ?? "";
    changes.push({ path, status, before: { mode: from, hash: before }, after: { mode: to, hash: after } });
  }
  return { changes, rest: parts.slice(at) };
}
