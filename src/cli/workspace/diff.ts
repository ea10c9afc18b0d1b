import type { ChangeStep } from "../../runtime/files/change-steps.ts";
import { callText, fileLines, changesTotal, writePatch } from "./diff-view.ts";
import { usageError } from "../terminal/failure.ts";
import { color, columns, oneLine, shortId } from "../terminal/text.ts";
import { sessionFiles } from "../target/workspaces-session.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface DiffFlags {
  readonly since: string;
  readonly until?: string;
  readonly patch?: boolean;
  readonly byCall?: boolean;
  readonly json?: boolean;
}

export async function showDiff(given: string | undefined, flags: DiffFlags): Promise<void> {
  const { since: from, until: to, patch = false, byCall = false, json = false } = flags;
  if (patch && byCall) throw usageError("--patch and --by-call cannot be combined. Use one of them.");
  if (patch && json)
    throw usageError("--patch and --json cannot be combined: a patch is already machine-readable. Use one of them.");
  await using opened = await sessionFiles(given);
  const { files, sessionId } = opened;
  if ((await files.checkpoints(sessionId)).length === 0) {
    if (!json) process.stderr.write(`${noCheckpoint(sessionId)}\n`);
    return;
  }
  const range = { from, ...(to !== undefined && { to }) };
  if (patch) return writePatch(await files.patch(sessionId, range));
  const changed = await files.diff(sessionId, { ...range, byCall });
  if (json) return (byCall ? changed.steps : changed.files).forEach((line) => print(hiddenFreeJson(line)));
  print(color.dim(`session ${shortId(sessionId)}, ${rangeText(flags)}`));
  if (changed.files.length === 0 && !(byCall && changed.steps.length > 0)) return print("No files changed.");
  if (byCall) showSteps(changed.steps);
  else for (const line of fileLines(changed.files)) print(line);
  if (changed.files.length > 0) print(changesTotal(changed.files));
  else print("All changes were undone: no files differ now.");
}

/** Not an error: many sessions only read. */
export function noCheckpoint(sessionId: string): string {
  return `Session ${shortId(sessionId)} has no checkpoints: it made no calls that could change files, checkpoints are off (environment.checkpoints), or they were removed.`;
}

function rangeText({ since, until }: DiffFlags): string {
  return `from ${momentText(since)} ${until === undefined ? "to now" : `to ${momentText(until)}`}`;
}

function momentText(moment: string): string {
  if (moment === "start") return "the start";
  return moment === "turn" ? "the start of the last turn" : `checkpoint ${moment}`;
}

function showSteps(steps: readonly ChangeStep[]): void {
  for (const { calls, checkpointId, files } of steps) {
    const end = checkpointId === undefined ? "" : `  checkpoint ${shortId(checkpointId)}`;
    print(`${color.bold(oneLine(whoText(calls), columns() - end.length))}${color.dim(end)}`);
    for (const line of fileLines(files)) print(line);
    print("");
  }
  if (steps.some(({ calls }) => calls.length > 1))
    print(color.dim("Calls on one line overlapped: any of them may have made the change."));
}

function whoText(calls: ChangeStep["calls"]): string {
  return calls.length === 0 ? "not by the agent" : calls.map(callText).join(" | ");
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
