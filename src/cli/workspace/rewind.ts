import type { Rewind } from "../../runtime/files/files.ts";
import { whyText } from "./checkpoints.ts";
import { fileLines, pathText, totalText, writePatch } from "./diff-view.ts";
import { usage } from "../terminal/failure.ts";
import { openRecords } from "../target/records.ts";
import { ago, colour, columns, oneLine, shortId } from "../terminal/text.ts";
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

/** Asks nobody: what was there is kept in a checkpoint first, and the output says how to get it back. */
export async function rewind(given: string, flags: RewindFlags): Promise<void> {
  refuseMixed(given, flags);
  const { to, dryRun = false, patch = false, json = false, overwrite = false } = flags;
  await using opened = await sessionFiles(given);
  const { files, sessionId } = opened;
  if (patch) {
    process.stderr.write("This is what would be taken back:\n");
    return writePatch(await files.patch(sessionId, { from: to ?? "start" }));
  }
  const done =
    to === undefined
      ? await files.undoRewind(sessionId, { overwrite })
      : await files.rewind(sessionId, { to, conversation: flags.conversation === true, dryRun, overwrite });
  const conversation = to === undefined ? await movedConversation(sessionId) : flags.conversation === true;
  if (json) return print(hiddenFreeJson({ ...done, dryRun, conversation }));
  show(done, { session: shortId(sessionId), ...flags, conversation });
}

/** Whether the conversation went with the files in the last rewind: an undo is one, and moves what was moved. */
async function movedConversation(sessionId: string): Promise<boolean> {
  await using records = await openRecords();
  const last = (await records.read(sessionId, { types: ["capstan.rewound"] })).at(-1);
  return last?.type === "capstan.rewound" && last.to_seq !== undefined;
}

function refuseMixed(session: string, { to, undo = false, conversation, dryRun, patch, json }: RewindFlags): void {
  if (undo === (to !== undefined))
    throw usage(
      `Say where to: --to start, --to turn or --to CHECKPOINT, or --undo. The checkpoints are listed by: capstan checkpoints ${session}`,
    );
  if (undo && conversation === true)
    throw usage("--undo brings the conversation back when it went back, so --conversation cannot be given with it.");
  if (undo && dryRun === true) throw usage("--dry-run goes with --to. An undo can itself be undone.");
  if (patch === true && dryRun !== true) throw usage("--patch goes with --dry-run.");
  if (patch === true && json === true)
    throw usage("--patch and --json exclude each other: a patch is text for programs already.");
}

function show(
  { checkpoint, files, conflicts }: Rewind,
  { session, undo, conversation, dryRun }: RewindFlags & { readonly session: string },
): void {
  const place = `checkpoint ${shortId(checkpoint.id)}`;
  if (dryRun === true) print(`Bringing session ${session} to ${place} would change:`);
  else if (undo === true) print(`The rewind is taken back: session ${session} is at ${place}.`);
  else print(`Session ${session} is back at ${place}.`);
  const taken = ago(Date.now() - Date.parse(checkpoint.at));
  print(colour.dim(oneLine(`turn ${checkpoint.turn}, ${whyText(checkpoint)}, ${taken}`, columns())));
  for (const line of fileLines(files)) print(line);
  print(files.length === 0 ? "No file differs." : totalText(files));
  for (const path of conflicts) print(`${colour.yellow("changed by someone else since:")} ${pathText(path)}`);
  if (conflicts.length > 0) print("Without --overwrite these files stop the rewind.");
  if (dryRun === true) return print("Nothing was changed.");
  if (conversation === true)
    print(
      undo === true
        ? "What was said before the rewind is part of the conversation again."
        : "What was said since is not part of the conversation any more.",
    );
  print(`${colour.dim("Take it back with:")} capstan rewind ${session} --undo`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
