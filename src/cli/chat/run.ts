import { resolve } from "node:path";
import { homeDirectory } from "../../config/project/home.ts";
import { findProject } from "../../config/project/project.ts";
import type { OtherTurns } from "../run/abandoned.ts";
import { Asking } from "../ask/ask.ts";
import { usage } from "../terminal/failure.ts";
import { INTERRUPTED } from "../terminal/interrupt.ts";
import { requireFitting, type RunFlags } from "../run/run-flags.ts";
import { chosenServer } from "../target/server.ts";
import { lastSession, resolveSession } from "../target/session-id.ts";
import { columns, shortId } from "../terminal/text.ts";
import { requirePerson } from "../terminal/person.ts";
import { Chat } from "./chat.ts";
import { History } from "./editor/history.ts";
import type { ChatHost, Wanted } from "./host/host.ts";
import { PipeChat } from "./pipe.ts";
import { leaveOnSignal } from "./signals.ts";
import { type Style, wrapSpans } from "./view/spans.ts";
import { TerminalChat } from "./terminal.ts";

export interface ChatFlags extends RunFlags {
  readonly attach?: string;
}

/** A conversation with an agent, at a terminal or through a pipe. Returns the exit code. */
export async function runChat(agent: string | undefined, flags: ChatFlags): Promise<number> {
  const given = withAgent(agent, flags);
  requireFitting(given);
  if (given.yes === true) await requirePerson("--yes", "answer approvals");
  // Commands within the chat look there too.
  if (given.attach !== undefined) process.env["CAPSTAN_URL"] = given.attach;
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  if (isTerminal && (await chosenServer()) === undefined) await (await import("../run/configure.ts")).configure(given);
  return isTerminal ? atTerminal(given) : inPipe(given);
}

function withAgent(agent: string | undefined, flags: ChatFlags): ChatFlags {
  if (agent === undefined) return flags;
  if (flags.agent !== undefined)
    throw usage(`The agent is given twice: ${agent} and ${flags.agent}. Give one of them.`);
  return { ...flags, agent };
}

async function openHost(flags: ChatFlags): Promise<ChatHost> {
  const server = await chosenServer();
  if (server === undefined) return (await import("./host/local-host.ts")).localChatHost(flags);
  return (await import("./host/remote-host.ts")).remoteChatHost(server, flags);
}

/** The session that the flags mean; undefined for a new one, which begins with the first message. */
async function wanted(host: ChatHost, flags: ChatFlags): Promise<Wanted | undefined> {
  if (flags.fork !== undefined) return { kind: "fork", id: await resolveSession(host, flags.fork) };
  if (flags.resume !== undefined) return { kind: "resume", id: await resolveSession(host, flags.resume) };
  if (flags.continue !== true) return undefined;
  // One in which nothing was ever said is not what anybody wants to go on with.
  return { kind: "resume", id: await lastSession(host, host, ({ turns }) => turns > 0) };
}

async function atTerminal(flags: ChatFlags): Promise<number> {
  // What is typed from now on is for the chat, and is kept until it is there.
  process.stdin.setRawMode(true);
  try {
    return await chatAtTerminal(flags);
  } finally {
    process.stdin.setRawMode(false);
    // A question that was left open may still listen.
    process.stdin.unref();
  }
}

async function chatAtTerminal(flags: ChatFlags): Promise<number> {
  const history = new History(homeDirectory(process.env).path, findProject(resolve(flags.cwd), process.env).id);
  let chat: Chat | undefined;
  using ui = new TerminalChat(history);
  // Before the host, so that it listens until everything is closed: a terminal that goes away says so twice.
  using signals = leaveOnSignal({
    interrupt: () => void chat?.interrupt().catch((thrown: unknown) => chat?.tell(thrown)),
    leave: () => {
      chat?.asking.leave();
      ui.quit();
    },
  });
  await using host = await openHost(flags);
  const first = await wanted(host, flags);
  chat = new Chat(host, new Asking(host, flags, { escapeEnds: true }), ui);
  chat.asking.attach(ui);
  ui.show(chat);
  if (first === undefined) chat.page.quiet(greeting(chat));
  else await chat.take(first);
  const others = await settleOthers(chat);
  await ui.over;
  chat.leave();
  await others?.interrupt();
  ui[Symbol.dispose]();
  if (!signals.isGone) farewell(chat, flags);
  return signals.isSignalled ? INTERRUPTED : 0;
}

function lines(text: string, style: Style = {}): string[] {
  return wrapSpans([{ text, style }], columns());
}

function greeting({ agent }: Chat): string {
  return `${agent === undefined ? "" : `${agent.name}. `}Type a request, or /help for the commands.`;
}

/** What dead hosts left in a turn, told in the chat as long as there is one. */
async function settleOthers(chat: Chat): Promise<OtherTurns | undefined> {
  return chat.host.settleAbandoned?.({
    say: (text) => !chat.isOver && chat.page.mark(text),
    goOnWith: (id) => `/sessions ${shortId(id)}`,
  });
}

/** What a person needs to come back. */
function farewell({ session, isInTurn, host }: Chat, { attach, rehearsal }: ChatFlags): void {
  if (session === undefined) return;
  const flags = `${attach === undefined ? "" : ` --attach ${attach}`}${rehearsal === true ? " --rehearsal" : ""}`;
  const still = isInTurn && host.staysRunning ? " It goes on with its turn." : "";
  const said = [
    "",
    ...lines(`Session ${shortId(session.id)} is kept.${still} Go on with:`, { dim: true }),
    ...lines(`capstan chat${flags} --resume ${shortId(session.id)}`),
  ];
  process.stdout.write(said.map((line) => `${line}\n`).join(""));
}

async function inPipe(flags: ChatFlags): Promise<number> {
  let chat: Chat | undefined;
  const pipe = new PipeChat();
  let others: OtherTurns | undefined;
  const stop = (): void => {
    pipe.stop(chat);
    void others?.interrupt();
  };
  using signals = leaveOnSignal({ interrupt: stop, leave: stop });
  await using host = await openHost(flags);
  const first = await wanted(host, flags);
  chat = new Chat(host, new Asking(host, flags), pipe);
  if (first !== undefined) await chat.take(first);
  others = await host.settleAbandoned?.({ goOnWith: (id) => `capstan chat --resume ${shortId(id)}` });
  const code = await pipe.run(chat, flags);
  chat.leave();
  await others?.over();
  return signals.isSignalled || pipe.isInterrupted ? INTERRUPTED : code;
}
