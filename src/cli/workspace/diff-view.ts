import type { CallName } from "../../core/session/checkpoint-list.ts";
import type { FileChange } from "../../core/ports/workspace.ts";
import { color, count } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

const PAINT = { added: color.green, modified: color.yellow, deleted: color.red } as const;
const KIND_WIDTH = "modified".length;

/** One line per file. Paths come last and are never cut, so that they can be copied. */
export function fileLines(files: readonly FileChange[]): readonly string[] {
  const width = Math.max(0, ...files.map((file) => linesOf(file).length));
  return files.map((file) => {
    const { kind, path } = file;
    return `  ${PAINT[kind](kind.padEnd(KIND_WIDTH))}  ${linesOf(file).padEnd(width)}  ${pathText(path)}`;
  });
}

/** Escapes line breaks, which would look like further file names. */
export function pathText(path: string): string {
  return escapeHidden(path)
    .replaceAll("\n", String.raw`\n`)
    .replaceAll("\t", String.raw`\t`);
}

function linesOf({ kind, insertions, deletions }: FileChange): string {
  if (insertions === undefined || deletions === undefined) return "binary";
  if (kind === "added") return `+${insertions}`;
  if (kind === "deleted") return `-${deletions}`;
  // Only the permissions changed.
  if (insertions + deletions === 0) return "mode";
  return [...(insertions > 0 ? [`+${insertions}`] : []), ...(deletions > 0 ? [`-${deletions}`] : [])].join(" ");
}

/** Such as `3 files: 1 added, 2 modified; +12 -4 lines`. */
export function changesTotal(files: readonly FileChange[]): string {
  const kinds = (["added", "modified", "deleted"] as const).flatMap((kind) => {
    const some = files.filter((file) => file.kind === kind).length;
    return some === 0 ? [] : [`${count(some)} ${kind}`];
  });
  const sum = (figure: "insertions" | "deletions"): string =>
    count(files.reduce((total, file) => total + (file[figure] ?? 0), 0));
  return `${filesText(files.length)}: ${kinds.join(", ")}; +${sum("insertions")} -${sum("deletions")} lines`;
}

export function filesText(some: number): string {
  return some === 1 ? "1 file" : `${count(some)} files`;
}

export function callText({ tool, subject }: CallName): string {
  return escapeHidden(`${tool} ${subject}`.trim());
}

/** Unchanged for programs; on a terminal, colored and with control characters escaped. */
export function writePatch(patch: Buffer): void {
  if (!process.stdout.isTTY) {
    process.stdout.write(patch);
    return;
  }
  if (patch.length > 0) process.stdout.write(`${paintPatch(escapeHidden(patch.toString("utf8").trimEnd()))}\n`);
}

/** Colors a patch. Control characters must already be escaped. */
export function paintPatch(patch: string): string {
  // A changed line may look like a header: "--- a" is the removal of "-- a".
  let isHead = true;
  return patch
    .split("\n")
    .map((line) => {
      if (line.startsWith("diff --git ")) isHead = true;
      const painted = isHead ? paintHead(line) : paintChange(line);
      if (line.startsWith("@@ ")) isHead = false;
      return painted;
    })
    .join("\n");
}

/** Shortens hashes. */
function paintHead(line: string): string {
  if (line.startsWith("diff --git ")) return color.bold(line);
  return color.dim(line.startsWith("index ") ? line.replaceAll(/([\da-f]{8})[\da-f]{32}/g, "$1") : line);
}

function paintChange(line: string): string {
  if (line.startsWith("@@ ")) return color.dim(line);
  if (line.startsWith("+")) return color.green(line);
  return line.startsWith("-") ? color.red(line) : line;
}
