import { resolve } from "node:path";
import { homeDirectory } from "../../config/project/home.ts";
import { findProject } from "../../config/project/project.ts";
import type { OtherTurns } from "../run/settle-abandoned.ts";
import { Asking } from "../ask/ask.ts";
import { usageError } from "../terminal/failure.ts";
import { EXIT_INTERRUPTED } from "../terminal/interrupt.ts";
import { requireCompatible, type RunFlags } from "../run/run-flags.ts";
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

/** Runs a chat at a terminal or through a pipe. Returns the exit code. */
export async function runChat(agent: string | undefined, flags: ChatFlags): Promise<number> {
  const given = withAgent(agent, flags);
  requireCompatible(given);
  if (given.yes === true) await requirePerson("--yes", "answer approvals");
  // Chat commands read CAPSTAN_URL too.
  if (given.attach !== undefined) process.env["CAPSTAN_URL"] = given.attach;
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY;
  if (isTerminal && (await chosenServer()) === undefined) await (await import("../run/configure.ts")).configure(given);
  return isTerminal ? atTerminal(given) : inPipe(given);
}

function withAgent(agent: string | undefined, flags: ChatFlags): ChatFlags {
  if (agent === undefined) return flags;
  if (flags.agent !== undefined) throw usageError(`Two agents given: ${agent} and ${flags.agent}. Use one of them.`);
  return { ...flags, agent };
}

async function openHost(flags: ChatFlags): Promise<ChatHost> {
  const server = await chosenServer();
  if (server === undefined) return (await import("./host/local-host.ts")).localChatHost(flags);
  return (await import("./host/remote-host.ts")).remoteChatHost(server, flags);
}

/** The session that the flags name; undefined for a new one, which starts with the first message. */
async function requestedSession(host: ChatHost, flags: ChatFlags): Promise<Wanted | undefined> {
  if (flags.fork !== undefined) return { kind: "fork", id: await resolveSession(host, flags.fork) };
  if (flags.resume !== undefined) return { kind: "resume", id: await resolveSession(host, flags.resume) };
  if (flags.continue !== true) return undefined;
  // Skips sessions without messages.
  return { kind: "resume", id: await lastSession(host, host, ({ turns }) => turns > 0) };
}

async function atTerminal(flags: ChatFlags): Promise<number> {
  // Keys typed before the chat is ready are kept for it.
  process.stdin.setRawMode(true);
  try {
    return await chatAtTerminal(flags);
  } finally {
    process.stdin.setRawMode(false);
    // An open question may still be listening.
    process.stdin.unref();
  }
}

async function chatAtTerminal(flags: ChatFlags): Promise<number> {
  const history = new History(homeDirectory(process.env).path, findProject(resolve(flags.cwd), process.env).id);
  let chat: Chat | undefined;
  using ui = new TerminalChat(history);
  // Created before the host, so that it is disposed of last: a closed terminal sends two signals.
  using signals = leaveOnSignal({
    interrupt: () => void chat?.interrupt().catch((thrown: unknown) => chat?.report(thrown)),
    leave: () => {
      chat?.asking.leave();
      ui.quit();
    },
  });
  await using host = await openHost(flags);
  const first = await requestedSession(host, flags);
  chat = new Chat(host, new Asking(host, flags, { escapeEnds: true }), ui);
  chat.asking.attach(ui);
  ui.show(chat);
  if (first === undefined) chat.page.quiet(greeting(chat));
  else await chat.switchTo(first);
  const others = await settleOthers(chat);
  await ui.over;
  chat.leave();
  await others?.interrupt();
  ui[Symbol.dispose]();
  if (!signals.isGone) farewell(chat, flags);
  return signals.isSignaled ? EXIT_INTERRUPTED : 0;
}

function lines(text: string, style: Style = {}): string[] {
  return wrapSpans([{ text, style }], columns());
}

function greeting({ agent }: Chat): string {
  return `${agent === undefined ? "" : `${agent.name} is ready. `}Type a message, or /help for commands.`;
}

/** Recovers turns of dead hosts, and reports them in the chat while it is open. */
async function settleOthers(chat: Chat): Promise<OtherTurns | undefined> {
  return chat.host.settleAbandoned?.({
    say: (text) => !chat.isOver && chat.page.mark(text),
    resumeCommand: (id) => `/sessions ${shortId(id)}`,
  });
}

/** Prints how to resume the session. */
function farewell({ session, isInTurn, host }: Chat, { attach, rehearsal }: ChatFlags): void {
  if (session === undefined) return;
  const flags = `${attach === undefined ? "" : ` --attach ${attach}`}${rehearsal === true ? " --rehearsal" : ""}`;
  const still = isInTurn && host.staysRunning ? " Its turn continues on the server." : "";
  const output = [
    "",
    ...lines(`Session ${shortId(session.id)} is saved.${still} Continue with:`, { dim: true }),
    ...lines(`capstan chat${flags} --resume ${shortId(session.id)}`),
  ];
  process.stdout.write(output.map((line) => `${line}\n`).join(""));
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
  const first = await requestedSession(host, flags);
  chat = new Chat(host, new Asking(host, flags), pipe);
  if (first !== undefined) await chat.switchTo(first);
  others = await host.settleAbandoned?.({ resumeCommand: (id) => `capstan chat --resume ${shortId(id)}` });
  const code = await pipe.run(chat, flags);
  chat.leave();
  await others?.wait();
  return signals.isSignaled || pipe.isInterrupted ? EXIT_INTERRUPTED : code;
}
