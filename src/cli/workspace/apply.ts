import type { AppliedChange } from "../../core/ports/workspace.ts";
import { filesText, pathText } from "./diff-view.ts";
import { color, shortId } from "../terminal/text.ts";
import { sessionFiles } from "../target/workspaces-session.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

/** The exit code of `workspace_conflict`. */
const CONFLICT = 1;

/** Returns the exit code. */
export async function apply(
  given: string,
  { dryRun = false, json = false }: { readonly dryRun?: boolean; readonly json?: boolean },
): Promise<number> {
  await using opened = await sessionFiles(given);
  const { files, sessionId } = opened;
  const { applied, conflicts } = await files.apply(sessionId, { dryRun });
  const isDone = conflicts.length === 0;
  if (json) {
    for (const change of applied) print(hiddenFreeJson({ type: "change", ...change, applied: isDone && !dryRun }));
    for (const conflict of conflicts) print(hiddenFreeJson({ type: "conflict", ...conflict }));
    return isDone ? 0 : CONFLICT;
  }
  if (isDone) {
    for (const { how, path } of applied) print(`  ${PAINT[how](how.padEnd(WIDTH))}  ${pathText(path)}`);
    print(outcomeText(applied, { dryRun, session: shortId(sessionId) }));
    return 0;
  }
  for (const { path, why } of conflicts)
    process.stderr.write(`  ${color.red("conflict")}  ${pathText(path)}: ${escapeHidden(why)}\n`);
  process.stderr.write(
    `capstan: ${filesText(conflicts.length)} cannot be applied, so nothing was written. Resolve the conflicts in the source directory, or export the changes: capstan export ${shortId(sessionId)} --patch FILE\n`,
  );
  return CONFLICT;
}

const WIDTH = "written".length;
const PAINT: Readonly<Record<AppliedChange["how"], (text: string) => string>> = {
  written: color.green,
  merged: color.yellow,
  deleted: color.red,
  already: color.dim,
};

function outcomeText(
  applied: readonly AppliedChange[],
  { dryRun, session }: { readonly dryRun: boolean; readonly session: string },
): string {
  const changed = applied.filter(({ how }) => how !== "already").length;
  if (changed === 0) return `Session ${session} has no changes to apply.`;
  return dryRun
    ? `${filesText(changed)} would be changed, without conflicts. Nothing was written.`
    : `${filesText(changed)} changed.`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
