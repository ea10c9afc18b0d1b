import { basename } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import type { SessionRecord, SessionSummary } from "../../../core/ports/store.ts";
import { cost } from "../../follow/cost.ts";
import { resolveSession } from "../../target/session-id.ts";
import { ago, oneLine, shortId } from "../../terminal/text.ts";
import type { Chat } from "../chat.ts";
import type { ChatCommand, Room } from "./command.ts";
import { isOf, isSameDirectory, shortPath } from "../../terminal/directory.ts";
import { writeExport } from "./export.ts";
import type { ChatSession } from "../host/host.ts";

const MAX_SESSIONS = 15;

/** The session itself: another one, a copy, a file. */
export const SESSION_COMMANDS: readonly ChatCommand[] = [
  { name: "fork", about: "go on in a copy of this session; this one stays as it is", run: fork },
  { name: "compact", about: "let the model go on from a summary of what was said", run: compact },
  { name: "sessions", words: "[ID]", about: "go on with another session of the project", run: sessions },
  { name: "export", words: "[FILE]", about: "write the session's log to a file", run: exportLog },
  { name: "answer", about: "answer what was left for later", run: answer },
  { name: "clear", about: "begin a new session; this one stays", run: clear },
];

/** Throws what there is to say when there is no session yet. */
export function requireSession({ session }: Chat): ChatSession {
  if (session === undefined)
    throw new CapstanError("not_found", "Nothing was said yet: the session begins with the first message.");
  return session;
}

/** The same for what can only be done between two turns. */
export async function requireResting(chat: Chat): Promise<ChatSession> {
  const session = requireSession(chat);
  await requireIdle(chat);
  return session;
}

async function requireIdle(chat: Chat): Promise<void> {
  if (!(await chat.settled()))
    throw new CapstanError("session_busy", "A turn is under way. Interrupt it first (Esc), or wait until it is over.");
}

/** Messages that still wait belong to the session that is left: that they do is said, because nobody would see it. */
function tellLeft({ page }: Chat, count: number, id: string): void {
  if (count === 0) return;
  const what = count === 1 ? "The message that waited stays" : `The ${count} messages that waited stay`;
  page.mark(
    `${what} with session ${shortId(id)}, which takes ${count === 1 ? "it" : "them"} up when you go on with it.`,
  );
}

async function fork({ chat }: Room): Promise<void> {
  const { id } = await requireResting(chat);
  const left = chat.view.waiting;
  const copy = await chat.take({ kind: "fork", id });
  chat.page.note(
    `This is now session ${shortId(copy.id)}, a copy of ${shortId(id)}. Back to that one: /sessions ${shortId(id)}`,
  );
  tellLeft(chat, left, id);
}

async function compact({ chat }: Room): Promise<void> {
  await (await requireResting(chat)).compact();
}

async function sessions(room: Room, words: string): Promise<void> {
  const { chat } = room;
  await requireIdle(chat);
  const id = words === "" ? await chosenSession(room) : await resolveSession(chat.host, words);
  if (id === undefined) return;
  const before = chat.session?.id;
  if (id === before) return chat.page.quiet(`This is session ${shortId(id)} already.`);
  const left = chat.view.waiting;
  const { record } = await chat.take({ kind: "resume", id });
  chat.page.quiet(`This is session ${shortId(id)}.`);
  tellMoved(chat, record);
  if (before !== undefined) tellLeft(chat, left, before);
}

async function chosenSession(room: Room): Promise<string | undefined> {
  const { chat } = room;
  const all = await chat.host.sessions({ project: chat.host.project, limit: MAX_SESSIONS });
  if (all.length === 0) throw new CapstanError("not_found", "This project has no session yet.");
  return room.choose(
    "Which session?",
    all.map((one) => ({
      value: one.id,
      label: `${shortId(one.id)}  ${oneLine(aboutSession(one, chat), Math.max(12, chat.page.width - (isNarrow(chat) ? 16 : 40)))}`,
      hint: `${ago(Date.now() - one.lastActivityAt)}, ${cost(one)}`,
    })),
    `/sessions ${shortId(all[0]?.id ?? "")}`,
  );
}

/** The directory comes first where it is another one: what was said there is about other files. */
function aboutSession({ title, firstMessage, ...record }: SessionSummary, chat: Chat): string {
  const { directory } = chat.host;
  const text = title ?? (firstMessage || "(nothing was said)");
  if (directory === undefined || isOf(record, directory)) return text;
  return `[${isNarrow(chat) ? basename(record.source) : shortPath(record.source)}] ${text}`;
}

/** There what is said beside a choice stands below it. */
function isNarrow({ page }: Chat): boolean {
  return page.width < 60;
}

/** A session that works in place goes on where the chat is. */
function tellMoved({ page, host: { directory } }: Chat, { environment, source }: SessionRecord): void {
  if (directory === undefined || environment.workspace.kind !== "in-place" || isSameDirectory(source, directory))
    return;
  page.mark(
    `It was started in ${source} and goes on here, in ${directory}. What it changes here cannot be rewound: for that, go on with it there.`,
  );
}

async function exportLog({ chat }: Room, words: string): Promise<void> {
  const session = requireSession(chat);
  const { file, isInWorkspace } = await writeExport(session, words);
  chat.page.note(`The session's log is in ${file}.`);
  if (isInWorkspace) chat.page.quiet("It is among the session's files, so that a rewind may take it away.");
  chat.page.quiet(`Read it with: capstan sessions import ${file}`);
}

async function answer({ chat }: Room): Promise<void> {
  requireSession(chat);
  if (!chat.isWaiting) return chat.page.note("Nothing waits for an answer.");
  if (!chat.asking.isAttended)
    return chat.page.note("Something waits for an answer, and nobody is here to give it. See: capstan approvals list");
  chat.asking.askAgain();
  await chat.ask();
}

async function clear(room: Room): Promise<void> {
  const { chat } = room;
  await requireIdle(chat);
  const id = chat.session?.id;
  const left = chat.view.waiting;
  await chat.letGo();
  room.clear();
  if (id === undefined) return;
  chat.page.quiet(`A new session. Back to the last one: /sessions ${shortId(id)}`);
  tellLeft(chat, left, id);
}
