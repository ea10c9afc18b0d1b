import type { Rewind } from "../../runtime/files/rewind.ts";
import { whyText } from "./checkpoints.ts";
import { fileLines, pathText, changesTotal, writePatch } from "./diff-view.ts";
import { usageError } from "../terminal/failure.ts";
import { openRecords } from "../target/records.ts";
import { ago, color, columns, oneLine, shortId } from "../terminal/text.ts";
import { sessionFiles } from "../target/workspaces-session.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface RewindFlags {
  readonly to?: string;
  readonly undo?: boolean;
  readonly conversation?: boolean;
  readonly dryRun?: boolean;
  readonly overwrite?: boolean;
  readonly patch?: boolean;
  readonly json?: boolean;
}

/** Does not ask: the current files are saved in a checkpoint first, and the output shows how to undo the rewind. */
export async function rewindWorkspace(given: string, flags: RewindFlags): Promise<void> {
  refuseMixed(given, flags);
  const { to, dryRun = false, patch = false, json = false, overwrite = false } = flags;
  await using opened = await sessionFiles(given);
  const { files, sessionId } = opened;
  if (patch) {
    process.stderr.write("These changes would be undone:\n");
    return writePatch(await files.patch(sessionId, { from: to ?? "start" }));
  }
  const done =
    to === undefined
      ? await files.undoRewind(sessionId, { overwrite })
      : await files.rewind(sessionId, { to, conversation: flags.conversation === true, dryRun, overwrite });
  const conversation = to === undefined ? await hasMovedConversation(sessionId) : flags.conversation === true;
  if (json) return print(hiddenFreeJson({ ...done, dryRun, conversation }));
  show(done, { session: shortId(sessionId), ...flags, conversation });
}

/** Whether the last rewind included the conversation. An undo is also a rewind, with the same scope. */
async function hasMovedConversation(sessionId: string): Promise<boolean> {
  await using records = await openRecords();
  const last = (await records.read(sessionId, { types: ["capstan.rewound"] })).at(-1);
  return last?.type === "capstan.rewound" && last.to_seq !== undefined;
}

function refuseMixed(session: string, { to, undo = false, conversation, dryRun, patch, json }: RewindFlags): void {
  if (undo === (to !== undefined))
    throw usageError(
      `Choose a target: --to start, --to turn, --to CHECKPOINT or --undo. To list checkpoints: capstan checkpoints ${session}`,
    );
  if (undo && conversation === true)
    throw usageError("--undo restores the conversation by itself if it was rewound. Omit --conversation.");
  if (undo && dryRun === true) throw usageError("--dry-run requires --to. An undo can itself be undone.");
  if (patch === true && dryRun !== true) throw usageError("--patch requires --dry-run.");
  if (patch === true && json === true)
    throw usageError("--patch and --json cannot be combined: a patch is already machine-readable. Use one of them.");
}

function show(
  { checkpoint, files, conflicts }: Rewind,
  { session, undo, conversation, dryRun }: RewindFlags & { readonly session: string },
): void {
  const place = `checkpoint ${shortId(checkpoint.id)}`;
  if (dryRun === true) print(`Rewinding session ${session} to ${place} would change:`);
  else if (undo === true) print(`Rewind undone: session ${session} is at ${place}.`);
  else print(`Session ${session} rewound to ${place}.`);
  const taken = ago(Date.now() - Date.parse(checkpoint.at));
  print(color.dim(oneLine(`turn ${checkpoint.turn}, ${whyText(checkpoint)}, ${taken}`, columns())));
  for (const line of fileLines(files)) print(line);
  print(files.length === 0 ? "No files differ." : changesTotal(files));
  for (const path of conflicts) print(`${color.yellow("changed by someone else since:")} ${pathText(path)}`);
  if (conflicts.length > 0) print("These files block the rewind. To overwrite them, add --overwrite.");
  if (dryRun === true) return print("Nothing was changed.");
  if (conversation === true)
    print(
      undo === true
        ? "The conversation is restored to what it was before the rewind."
        : "Later messages are no longer part of the conversation.",
    );
  print(`${color.dim("To undo:")} capstan rewind ${session} --undo`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
