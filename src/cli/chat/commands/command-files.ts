import { CapstanError } from "../../../core/errors.ts";
import { whyText } from "../../workspace/checkpoints.ts";
import { noCheckpoint } from "../../workspace/diff.ts";
import { fileLines, paintPatch, changesTotal } from "../../workspace/diff-view.ts";
import { usageError } from "../../terminal/failure.ts";
import { ago, color, oneLine, shortId } from "../../terminal/text.ts";
import type { ChatCommand, Room } from "./command.ts";
import { requireIdleSession, requireSession } from "./command-session.ts";
import { escapeHidden } from "../../../words/hidden-text.ts";

/** Longer changes are cut. */
const MAX_LINES = 300;
/** Most checkpoints in the list. */
const MAX_CHOICES = 12;

/** Commands about the agent's file changes. */
export const FILE_COMMANDS: readonly ChatCommand[] = [
  {
    name: "diff",
    words: "[start|turn|CHECKPOINT]",
    about: "show file changes (default: since the session started)",
    run: diff,
  },
  {
    name: "rewind",
    words: "[start|turn|CHECKPOINT|undo] [files]",
    about: "return files and conversation, or only the files, to an earlier state",
    run: rewind,
  },
];

async function diff({ chat }: Room, words: string): Promise<void> {
  const { id } = requireSession(chat);
  const { files } = chat.host;
  if ((await files.checkpoints(id)).length === 0) return chat.page.note(noCheckpoint(id));
  const range = { from: words || "start" };
  const changed = await files.diff(id, range);
  if (changed.files.length === 0) return chat.page.note("No files changed.");
  const patch = escapeHidden((await files.patch(id, range)).toString("utf8").trimEnd()).split("\n");
  const more = patch.length - MAX_LINES;
  chat.page.lines([
    ...fileLines(changed.files),
    changesTotal(changed.files),
    "",
    ...paintPatch(patch.slice(0, MAX_LINES).join("\n")).split("\n"),
    ...(more > 0 ? [color.dim(`… ${more} more lines. To see all: capstan diff ${shortId(id)} --patch`)] : []),
  ]);
}

async function rewind(room: Room, words: string): Promise<void> {
  const { chat } = room;
  const { id } = await requireIdleSession(chat);
  const [given, scope] = words.split(/\s+/);
  if (scope !== undefined && scope !== "files")
    throw usageError(`Unknown option ${scope}. To rewind only the files: /rewind ${given} files`);
  const { files } = chat.host;
  if (given === "undo") {
    const undone = await files.undoRewind(id);
    chat.page.lines(fileLines(undone.files));
    return chat.page.quiet("Rewind undone.");
  }
  const to = given || (await chooseCheckpoint(room, id));
  if (to === undefined) return;
  const how = scope ?? (given ? "both" : await chooseScope(room));
  if (how === undefined) return;
  const done = await files.rewind(id, { to, conversation: how === "both" });
  chat.page.lines(fileLines(done.files));
  chat.page.note(done.files.length === 0 ? "No files differ." : changesTotal(done.files));
  chat.page.quiet("To undo: /rewind undo");
}

async function chooseCheckpoint(room: Room, id: string): Promise<string | undefined> {
  const { chat } = room;
  const taken = await chat.host.files.checkpoints(id);
  // The last checkpoint is the current state.
  const last = taken.at(-1)?.reason;
  const all = last === "turn_end" || last === "call_end" ? taken.slice(0, -1) : taken;
  if (all.length === 0) throw new CapstanError("not_found", noCheckpoint(id));
  return room.choose(
    "Which checkpoint?",
    all
      .toReversed()
      .slice(0, MAX_CHOICES)
      .map((one) => ({
        value: one.id,
        label: `${shortId(one.id)}  ${oneLine(`turn ${one.turn}, ${whyText(one)}`, Math.max(12, chat.page.width - 28))}`,
        hint: ago(Date.now() - Date.parse(one.at)),
      })),
    `/rewind ${shortId(all.at(-1)?.id ?? "")}, or /rewind turn`,
  );
}

function chooseScope(room: Room): Promise<"both" | "files" | undefined> {
  return room.choose(
    "What to rewind?",
    [
      { value: "both", label: "Files and conversation" },
      { value: "files", label: "Only the files", hint: "the model is informed" },
    ],
    "/rewind turn, or /rewind turn files",
  );
}
