import { CapstanError } from "../../core/errors.ts";
import { cost } from "../cost.ts";
import { exportTo } from "../session-files.ts";
import { resolveSession } from "../session-id.ts";
import { ago, oneLine, shortId } from "../text.ts";
import type { Chat } from "./chat.ts";
import type { ChatCommand, Room } from "./command.ts";
import type { ChatSession } from "./host.ts";

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
    throw new CapstanError("session_busy", "A turn is under way. Wait until it is over, or end it with Esc.");
}

async function fork({ chat }: Room): Promise<void> {
  const { id } = await requireResting(chat);
  const copy = await chat.take({ kind: "fork", id });
  chat.page.note(
    `This is now session ${shortId(copy.id)}, a copy of ${shortId(id)}. Back to that one: /sessions ${shortId(id)}`,
  );
}

async function compact({ chat }: Room): Promise<void> {
  await (await requireResting(chat)).compact();
}

async function sessions(room: Room, words: string): Promise<void> {
  const { chat } = room;
  await requireIdle(chat);
  const id = words === "" ? await chosenSession(room) : await resolveSession(chat.host, words);
  if (id === undefined || id === chat.session?.id) return;
  await chat.take({ kind: "resume", id });
  chat.page.quiet(`This is session ${shortId(id)}.`);
}

async function chosenSession(room: Room): Promise<string | undefined> {
  const { chat } = room;
  const all = await chat.host.sessions({ project: chat.host.project, limit: MAX_SESSIONS });
  if (all.length === 0) throw new CapstanError("not_found", "This project has no session yet.");
  return room.choose(
    "Which session?",
    all.map((one) => ({
      value: one.id,
      label: `${shortId(one.id)}  ${oneLine(one.title ?? one.firstMessage, Math.max(12, chat.page.width - 40))}`,
      hint: `${ago(Date.now() - one.lastActivityAt)}, ${cost(one)}`,
    })),
  );
}

async function exportLog(room: Room, words: string): Promise<void> {
  const { id } = requireSession(room.chat);
  await room.aside(() => exportTo(id, words || `session-${shortId(id)}.jsonl`));
}

async function answer({ chat }: Room): Promise<void> {
  requireSession(chat);
  if (chat.view.state.status !== "idle" || !chat.isInTurn) return chat.page.note("Nothing waits for an answer.");
  chat.asking.askAgain();
  await chat.ask();
}

async function clear(room: Room): Promise<void> {
  const { chat } = room;
  await requireIdle(chat);
  const id = chat.session?.id;
  await chat.letGo();
  room.clear();
  if (id !== undefined) chat.page.quiet(`A new session. Back to the last one: /sessions ${shortId(id)}`);
}
