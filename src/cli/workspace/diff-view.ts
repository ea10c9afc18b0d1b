import type { CallName } from "../../core/session/checkpoint-list.ts";
import type { FileChange } from "../../core/ports/workspace.ts";
import { colour, count } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

const PAINT = { added: colour.green, modified: colour.yellow, deleted: colour.red } as const;
const KIND_WIDTH = "modified".length;

/** One line for each file. Paths stand last and are never cut: they are there to be copied. */
export function fileLines(files: readonly FileChange[]): readonly string[] {
  const width = Math.max(0, ...files.map((file) => linesOf(file).length));
  return files.map((file) => {
    const { kind, path } = file;
    return `  ${PAINT[kind](kind.padEnd(KIND_WIDTH))}  ${linesOf(file).padEnd(width)}  ${pathText(path)}`;
  });
}

/** A name may hold line breaks, which must not look like further names. */
export function pathText(path: string): string {
  return escapeHidden(path)
    .replaceAll("\n", String.raw`\n`)
    .replaceAll("\t", String.raw`\t`);
}

function linesOf({ kind, insertions, deletions }: FileChange): string {
  if (insertions === undefined || deletions === undefined) return "binary";
  if (kind === "added") return `+${insertions}`;
  if (kind === "deleted") return `-${deletions}`;
  // Nothing but its permissions.
  if (insertions + deletions === 0) return "mode";
  return [...(insertions > 0 ? [`+${insertions}`] : []), ...(deletions > 0 ? [`-${deletions}`] : [])].join(" ");
}

/** Such as `3 files: 1 added, 2 modified; +12 -4 lines`. */
export function totalText(files: readonly FileChange[]): string {
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

/** Byte for byte where a program reads it; in colours, with what would steer the terminal written out, where a person does. */
export function writePatch(patch: Buffer): void {
  if (!process.stdout.isTTY) {
    process.stdout.write(patch);
    return;
  }
  if (patch.length > 0) process.stdout.write(`${paintedPatch(escapeHidden(patch.toString("utf8").trimEnd()))}\n`);
}

/** In colours; what would steer the terminal must be written out before. */
export function paintedPatch(patch: string): string {
  // Within the change itself a line may look like one of the head: "--- a" is the removal of "-- a".
  let isHead = true;
  return patch
    .split("\n")
    .map((line) => {
      if (line.startsWith("diff --git ")) isHead = true;
      const painted = isHead ? paintedHead(line) : paintedChange(line);
      if (line.startsWith("@@ ")) isHead = false;
      return painted;
    })
    .join("\n");
}

/** Names of contents are cut to what a person may compare. */
function paintedHead(line: string): string {
  if (line.startsWith("diff --git ")) return colour.bold(line);
  return colour.dim(line.startsWith("index ") ? line.replaceAll(/([\da-f]{8})[\da-f]{32}/g, "$1") : line);
}

function paintedChange(line: string): string {
  if (line.startsWith("@@ ")) return colour.dim(line);
  if (line.startsWith("+")) return colour.green(line);
  return line.startsWith("-") ? colour.red(line) : line;
}
