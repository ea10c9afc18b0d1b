import type { CapstanClient, SessionInput } from "../../client/index.ts";
import type { Configuration } from "../../config/load.ts";
import type { MessageContent } from "../../core/events/content.ts";
import { attend, converse, goOnMessage } from "./converse.ts";
import { usage } from "../terminal/failure.ts";
import { INTERRUPTED } from "../terminal/interrupt.ts";
import { nothingToDo } from "./message.ts";
import { asked } from "../target/remote-failure.ts";
import { remoteHost } from "../target/remote-host.ts";
import { remoteRecords } from "../target/remote-records.ts";
import { RemoteSession, sendable } from "../target/remote-session.ts";
import { messageFor, readSchema } from "./run-input.ts";
import { givenInputs, givenLimits, isAgentId, resumes, type RunFlags, settingFlags } from "./run-flags.ts";
import type { ChosenServer } from "../target/server.ts";
import { lastSession, resolveSession } from "../target/session-id.ts";
import { shortId } from "../terminal/text.ts";
import type { Trace } from "./trace.ts";
import { tellNotes } from "./workspace-notes.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

interface Wanted {
  readonly words: readonly string[];
  readonly flags: RunFlags;
  readonly trace: Trace;
}

/** A turn on a server, shown and answered here. Returns the exit code. */
export async function runThere(server: ChosenServer, { words, flags, trace }: Wanted): Promise<number> {
  refuseLocal(flags);
  const message = await messageFor(words, flags);
  if (flags.detach === true) return detach(server, message, flags);
  return attend(
    async () => remoteHost(server),
    flags,
    async ({ options, interruptible }) => {
      const { stopping } = options;
      const session = await openThere(server, flags, options.signal).catch((thrown: unknown) => {
        if (stopping.stopped) return undefined;
        throw thrown;
      });
      if (session === undefined) return INTERRUPTED;
      interruptible(session);
      if (stopping.stopped) return INTERRUPTED;
      const code = await converse(session, message ?? goOnMessage(session), { ...options, trace });
      if (code === undefined) throw nothingToDo([]);
      return stopping.stopped ? INTERRUPTED : code;
    },
  );
}

/** What only means something on this machine. */
export function refuseLocal(flags: RunFlags): void {
  if (flags.rehearsal === true) refuse("--rehearsal", "it has its own model. Start it with capstan serve --rehearsal.");
  if (!resumes(flags)) return;
  if (flags.maxSteps !== undefined) refuse("--max-steps", "of a session that goes on only --max-usd can be changed.");
  if (flags.timeout !== undefined) refuse("--timeout", "of a session that goes on only --max-usd can be changed.");
  if (flags.cwd !== "." && flags.fork === undefined) refuse("--cwd", "a session goes on where it worked before.");
}

function refuse(flag: string, why: string): never {
  throw usage(`${flag} does not work against a server: ${why}`);
}

/** The session that the flags mean: a new one, one that goes on, or a fork. */
export async function openThere(server: ChosenServer, flags: RunFlags, signal: AbortSignal): Promise<RemoteSession> {
  const { client } = server;
  const records = remoteRecords(server);
  if (flags.fork !== undefined) {
    const parent = await resolveSession(records, flags.fork);
    const place = flags.cwd === "." ? {} : { cwd: flags.cwd };
    const forked = new RemoteSession(client, await asked(client.sessions.fork(parent, place)));
    return tellNotes(await steered(forked, flags), flags);
  }
  if (!resumes(flags)) {
    const made = await asked(client.sessions.create(await sessionInput(flags), { signal }));
    return tellNotes(new RemoteSession(client, made), flags);
  }
  return steered(new RemoteSession(client, await asked(client.sessions.get(await meant(server, flags)))), flags);
}

async function meant(server: ChosenServer, { resume }: RunFlags): Promise<string> {
  const records = remoteRecords(server);
  // The key says which project.
  return resume === undefined
    ? lastSession(records, { project: "", directory: undefined })
    : resolveSession(records, resume);
}

/** Engine, model, mode and the limit in USD can change in a session that goes on. */
async function steered(session: RemoteSession, { engine, model, mode, maxUsd }: RunFlags): Promise<RemoteSession> {
  const change = {
    ...(engine !== undefined && { engine }),
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(maxUsd !== undefined && { max_usd: maxUsd }),
  };
  if (Object.keys(change).length > 0) await session.change(change);
  return session;
}

/** Without an agent: the one that the server has for the project. A file is read here, with the settings of here. */
async function sessionInput(flags: RunFlags): Promise<SessionInput> {
  const { agent, engine, model, mode, allow, schema, cwd } = flags;
  const common: SessionInput = {
    ...(cwd !== "." && { cwd }),
    ...(flags.input !== undefined && { inputs: givenInputs(flags) }),
    ...(schema !== undefined && { output_schema: readSchema(schema) }),
  };
  const wishes: SessionInput = {
    ...common,
    ...(engine !== undefined && { engine }),
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(allow !== undefined && { allow: [...allow] }),
    budget: givenLimits(flags),
  };
  const place = await placeFor(flags);
  if (agent === undefined) return { ...wishes, ...place };
  if (isAgentId(agent)) return { ...wishes, ...place, agent: { id: agent } };
  return { ...common, ...place, agent_definition: (await configureHere(flags)).agent };
}

/** The environment of the server's project, unless somebody wants another. */
async function placeFor(flags: RunFlags): Promise<Pick<SessionInput, "environment">> {
  const { agent, workspace, sandbox } = flags;
  const isWanted = workspace !== undefined || sandbox !== undefined;
  if (!isWanted && (agent === undefined || isAgentId(agent))) return {};
  const { agentFile, sessionEnvironment } = await configureHere(flags);
  return isWanted || agentFile?.written.environment !== undefined ? { environment: sessionEnvironment } : {};
}

async function configureHere(flags: RunFlags): Promise<Configuration> {
  const { configure } = await import("./configure.ts");
  return configure(flags, { isRemote: true });
}

/** Starts the turn and leaves it to the server. */
async function detach(server: ChosenServer, message: MessageContent | undefined, flags: RunFlags): Promise<number> {
  if (message === undefined) throw nothingToDo([]);
  const { client } = server;
  const id = resumes(flags) ? await sendTo(server, message, flags) : await startWith(client, message, flags);
  if (flags.json === true) process.stdout.write(`${hiddenFreeJson({ session_id: id })}\n`);
  else {
    process.stdout.write(`${id}\n`);
    process.stderr.write(`Follow it with: capstan sessions show ${shortId(id)} --follow\n`);
  }
  return 0;
}

async function startWith(client: CapstanClient, message: MessageContent, flags: RunFlags): Promise<string> {
  const input = await sessionInput(flags);
  return (await asked(client.sessions.create({ ...input, message: sendable(message) }))).id;
}

async function sendTo(server: ChosenServer, message: MessageContent, flags: RunFlags): Promise<string> {
  const session = await openThere(server, flags, new AbortController().signal);
  await asked(server.client.sessions.send(session.id, sendable(message)));
  return session.id;
}
