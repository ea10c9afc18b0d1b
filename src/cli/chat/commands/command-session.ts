import { basename } from "node:path";
import { CapstanError } from "../../../core/errors.ts";
import type { SessionRecord, SessionSummary } from "../../../core/ports/store.ts";
import { costText } from "../../follow/cost.ts";
import { resolveSession } from "../../target/session-id.ts";
import { ago, oneLine, shortId } from "../../terminal/text.ts";
import type { Chat } from "../chat.ts";
import type { ChatCommand, Room } from "./command.ts";
import { isOf, isSameDirectory, shortPath } from "../../terminal/directory.ts";
import { writeExport } from "./export.ts";
import type { ChatSession } from "../host/host.ts";

const MAX_SESSIONS = 15;

/** Commands about sessions. */
export const SESSION_COMMANDS: readonly ChatCommand[] = [
  { name: "fork", about: "continue in a copy of this session", run: fork },
  { name: "compact", about: "replace the model's view of the conversation with a summary", run: compact },
  { name: "sessions", words: "[ID]", about: "switch to another session of the project", run: sessions },
  { name: "export", words: "[FILE]", about: "write the session's log to a file", run: exportLog },
  { name: "answer", about: "answer postponed questions", run: answer },
  { name: "clear", about: "start a new session; this one is saved", run: clear },
];

/** Throws if there is no session yet. */
export function requireSession({ session }: Chat): ChatSession {
  if (session === undefined) throw new CapstanError("not_found", "No session yet: it starts with your first message.");
  return session;
}

/** Throws if there is no session, or if a turn is running. */
export async function requireIdleSession(chat: Chat): Promise<ChatSession> {
  const session = requireSession(chat);
  await requireIdle(chat);
  return session;
}

async function requireIdle(chat: Chat): Promise<void> {
  if (!(await chat.waitUntilIdle()))
    throw new CapstanError("session_busy", "A turn is running. Press Esc to interrupt it, or wait until it ends.");
}

/** Queued messages stay with the session that the user leaves. */
function reportQueued({ page }: Chat, count: number, id: string): void {
  if (count === 0) return;
  const what = count === 1 ? "The queued message stays" : `The ${count} queued messages stay`;
  page.mark(`${what} with session ${shortId(id)} and will be sent when you continue it.`);
}

async function fork({ chat }: Room): Promise<void> {
  const { id } = await requireIdleSession(chat);
  const left = chat.view.waiting;
  const copy = await chat.switchTo({ kind: "fork", id });
  chat.page.note(
    `You are now in session ${shortId(copy.id)}, a copy of ${shortId(id)}. To go back: /sessions ${shortId(id)}`,
  );
  reportQueued(chat, left, id);
}

async function compact({ chat }: Room): Promise<void> {
  await (await requireIdleSession(chat)).compact();
}

async function sessions(room: Room, words: string): Promise<void> {
  const { chat } = room;
  await requireIdle(chat);
  const id = words === "" ? await chooseSession(room) : await resolveSession(chat.host, words);
  if (id === undefined) return;
  const before = chat.session?.id;
  if (id === before) return chat.page.quiet(`Already in session ${shortId(id)}.`);
  const left = chat.view.waiting;
  const { record } = await chat.switchTo({ kind: "resume", id });
  chat.page.quiet(`Now in session ${shortId(id)}.`);
  reportMoved(chat, record);
  if (before !== undefined) reportQueued(chat, left, before);
}

async function chooseSession(room: Room): Promise<string | undefined> {
  const { chat } = room;
  const all = await chat.host.sessions({ project: chat.host.project, limit: MAX_SESSIONS });
  if (all.length === 0) throw new CapstanError("not_found", "This project has no sessions yet.");
  return room.choose(
    "Which session?",
    all.map((one) => ({
      value: one.id,
      label: `${shortId(one.id)}  ${oneLine(aboutSession(one, chat), Math.max(12, chat.page.width - (isNarrow(chat) ? 16 : 40)))}`,
      hint: `${ago(Date.now() - one.lastActivityAt)}, ${costText(one)}`,
    })),
    `/sessions ${shortId(all[0]?.id ?? "")}`,
  );
}

/** Starts with the directory if it is not the current one. */
function aboutSession({ title, firstMessage, ...record }: SessionSummary, chat: Chat): string {
  const { directory } = chat.host;
  const text = title ?? (firstMessage || "(no messages)");
  if (directory === undefined || isOf(record, directory)) return text;
  return `[${isNarrow(chat) ? basename(record.source) : shortPath(record.source)}] ${text}`;
}

/** Whether hints are shown below the choices instead of next to them. */
function isNarrow({ page }: Chat): boolean {
  return page.width < 60;
}

/** An in-place session continues in the chat's directory, which may differ from its own. */
function reportMoved({ page, host: { directory } }: Chat, { environment, source }: SessionRecord): void {
  if (directory === undefined || environment.workspace.kind !== "in-place" || isSameDirectory(source, directory))
    return;
  page.mark(
    `This session was started in ${source} and now works in ${directory}. Changes here cannot be rewound. To keep rewind, continue it in its own directory.`,
  );
}

async function exportLog({ chat }: Room, words: string): Promise<void> {
  const session = requireSession(chat);
  const { file, isInWorkspace } = await writeExport(session, words);
  chat.page.note(`Session log written to ${file}.`);
  if (isInWorkspace) chat.page.quiet("The file is in the session's workspace, so a rewind may remove it.");
  chat.page.quiet(`To import it: capstan sessions import ${file}`);
}

async function answer({ chat }: Room): Promise<void> {
  requireSession(chat);
  if (!chat.isWaiting) return chat.page.note("No questions are waiting.");
  if (!chat.asking.isAttended)
    return chat.page.note("A question is waiting, but it cannot be answered here. See: capstan approvals list");
  chat.asking.askAgain();
  await chat.ask();
}

async function clear(room: Room): Promise<void> {
  const { chat } = room;
  await requireIdle(chat);
  const id = chat.session?.id;
  const left = chat.view.waiting;
  await chat.release();
  room.clear();
  if (id === undefined) return;
  chat.page.quiet(`New session. To go back: /sessions ${shortId(id)}`);
  reportQueued(chat, left, id);
}
