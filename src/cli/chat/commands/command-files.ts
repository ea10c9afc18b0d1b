import { CapstanError } from "../../../core/errors.ts";
import { whyText } from "../../workspace/checkpoints.ts";
import { noCheckpoint } from "../../workspace/diff.ts";
import { fileLines, paintedPatch, totalText } from "../../workspace/diff-view.ts";
import { usage } from "../../terminal/failure.ts";
import { ago, colour, oneLine, shortId } from "../../terminal/text.ts";
import type { ChatCommand, Room } from "./command.ts";
import { requireResting, requireSession } from "./command-session.ts";
import { escapeHidden } from "../../../words/hidden-text.ts";

/** A change that is longer is told by its beginning. */
const MAX_LINES = 300;
/** Checkpoints that can be chosen from. */
const MAX_CHOICES = 12;

/** What the agent did to the files. */
export const FILE_COMMANDS: readonly ChatCommand[] = [
  {
    name: "diff",
    words: "[start|turn|CHECKPOINT]",
    about: "what has changed in the files since then; since the session's start without it",
    run: diff,
  },
  {
    name: "rewind",
    words: "[start|turn|CHECKPOINT|undo] [files]",
    about: "bring files and conversation back, or only the files",
    run: rewind,
  },
];

async function diff({ chat }: Room, words: string): Promise<void> {
  const { id } = requireSession(chat);
  const { files } = chat.host;
  if ((await files.checkpoints(id)).length === 0) return chat.page.note(noCheckpoint(id));
  const range = { from: words || "start" };
  const changed = await files.diff(id, range);
  if (changed.files.length === 0) return chat.page.note("No file has changed.");
  const patch = escapeHidden((await files.patch(id, range)).toString("utf8").trimEnd()).split("\n");
  const more = patch.length - MAX_LINES;
  chat.page.lines([
    ...fileLines(changed.files),
    totalText(changed.files),
    "",
    ...paintedPatch(patch.slice(0, MAX_LINES).join("\n")).split("\n"),
    ...(more > 0 ? [colour.dim(`… ${more} more lines. All of them: capstan diff ${shortId(id)} --patch`)] : []),
  ]);
}

async function rewind(room: Room, words: string): Promise<void> {
  const { chat } = room;
  const { id } = await requireResting(chat);
  const [given, scope] = words.split(/\s+/);
  if (scope !== undefined && scope !== "files")
    throw usage(`After the moment only "files" can stand: ${scope} is not known. /rewind ${given} files`);
  const { files } = chat.host;
  if (given === "undo") {
    const undone = await files.undoRewind(id);
    chat.page.lines(fileLines(undone.files));
    return chat.page.quiet("The rewind is taken back.");
  }
  const to = given || (await chosenCheckpoint(room, id));
  if (to === undefined) return;
  const how = scope ?? (given ? "both" : await chosenScope(room));
  if (how === undefined) return;
  const done = await files.rewind(id, { to, conversation: how === "both" });
  chat.page.lines(fileLines(done.files));
  chat.page.note(done.files.length === 0 ? "No file differs." : totalText(done.files));
  chat.page.quiet("/rewind undo takes it back.");
}

async function chosenCheckpoint(room: Room, id: string): Promise<string | undefined> {
  const { chat } = room;
  const taken = await chat.host.files.checkpoints(id);
  // The files as the last turn left them are where they are.
  const last = taken.at(-1)?.reason;
  const all = last === "turn_end" || last === "call_end" ? taken.slice(0, -1) : taken;
  if (all.length === 0) throw new CapstanError("not_found", noCheckpoint(id));
  return room.choose(
    "Back to which moment?",
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

function chosenScope(room: Room): Promise<"both" | "files" | undefined> {
  return room.choose(
    "What goes back?",
    [
      { value: "both", label: "Files and conversation" },
      { value: "files", label: "Only the files", hint: "the model is told" },
    ],
    "/rewind turn, or /rewind turn files",
  );
}
