import type { CapstanClient, SessionInput } from "../../client/index.ts";
import type { Configuration } from "../../config/load.ts";
import type { MessageContent } from "../../core/events/content.ts";
import { attend, converse, continueMessage } from "./converse.ts";
import { usageError } from "../terminal/failure.ts";
import { EXIT_INTERRUPTED } from "../terminal/interrupt.ts";
import { nothingToDo } from "./message.ts";
import { awaitServer } from "../target/remote-failure.ts";
import { remoteHost } from "../target/remote-host.ts";
import { remoteRecords } from "../target/remote-records.ts";
import { RemoteSession, sendable } from "../target/remote-session.ts";
import { messageFor, readSchema } from "./run-input.ts";
import { givenInputs, givenLimits, isAgentId, resumes, type RunFlags } from "./run-flags.ts";
import type { ChosenServer } from "../target/server.ts";
import { lastSession, resolveSession } from "../target/session-id.ts";
import { shortId } from "../terminal/text.ts";
import type { Trace } from "./trace.ts";
import { reportNotes } from "./workspace-notes.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

interface Wanted {
  readonly words: readonly string[];
  readonly flags: RunFlags;
  readonly trace: Trace;
}

/** Runs a turn on a server, shown and answered here. Returns the exit code. */
export async function runRemote(server: ChosenServer, { words, flags, trace }: Wanted): Promise<number> {
  refuseLocal(flags);
  const message = await messageFor(words, flags);
  if (flags.detach === true) return detach(server, message, flags);
  return attend(
    async () => remoteHost(server),
    flags,
    async ({ options, interruptible }) => {
      const { stopping } = options;
      const session = await openRemoteSession(server, flags, options.signal).catch((thrown: unknown) => {
        if (stopping.stopped) return undefined;
        throw thrown;
      });
      if (session === undefined) return EXIT_INTERRUPTED;
      interruptible(session);
      if (stopping.stopped) return EXIT_INTERRUPTED;
      const code = await converse(session, message ?? continueMessage(session), { ...options, trace });
      if (code === undefined) throw nothingToDo([]);
      return stopping.stopped ? EXIT_INTERRUPTED : code;
    },
  );
}

/** Throws for flags that work only on this machine. */
export function refuseLocal(flags: RunFlags): void {
  if (flags.rehearsal === true)
    refuse("--rehearsal", "the server chooses the model. Start it with capstan serve --rehearsal.");
  if (!resumes(flags)) return;
  if (flags.maxSteps !== undefined) refuse("--max-steps", "in an existing session only --max-usd can be changed.");
  if (flags.timeout !== undefined) refuse("--timeout", "in an existing session only --max-usd can be changed.");
  if (flags.cwd !== "." && flags.fork === undefined) refuse("--cwd", "an existing session keeps its directory.");
}

function refuse(flag: string, why: string): never {
  throw usageError(`${flag} does not work against a server: ${why}`);
}

/** Opens the session that the flags name: a new one, an existing one or a fork. */
export async function openRemoteSession(
  server: ChosenServer,
  flags: RunFlags,
  signal: AbortSignal,
): Promise<RemoteSession> {
  const { client } = server;
  const records = remoteRecords(server);
  if (flags.fork !== undefined) {
    const parent = await resolveSession(records, flags.fork);
    const place = flags.cwd === "." ? {} : { cwd: flags.cwd };
    const forked = new RemoteSession(client, await awaitServer(client.sessions.fork(parent, place)));
    return reportNotes(await changeSession(forked, flags), flags);
  }
  if (!resumes(flags)) {
    const created = await awaitServer(client.sessions.create(await sessionInput(flags), { signal }));
    return reportNotes(new RemoteSession(client, created), flags);
  }
  return changeSession(
    new RemoteSession(client, await awaitServer(client.sessions.get(await findSession(server, flags)))),
    flags,
  );
}

async function findSession(server: ChosenServer, { resume }: RunFlags): Promise<string> {
  const records = remoteRecords(server);
  // The key determines the project.
  return resume === undefined
    ? lastSession(records, { project: "", directory: undefined })
    : resolveSession(records, resume);
}

/** Applies the flags that can change in an existing session. */
async function changeSession(
  session: RemoteSession,
  { engine, model, mode, maxUsd }: RunFlags,
): Promise<RemoteSession> {
  const change = {
    ...(engine !== undefined && { engine }),
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(maxUsd !== undefined && { max_usd: maxUsd }),
  };
  if (Object.keys(change).length > 0) await session.change(change);
  return session;
}

/** Default agent: the one that the server has for the project. An agent file is read here, with this machine's settings. */
async function sessionInput(flags: RunFlags): Promise<SessionInput> {
  const { agent, engine, model, mode, allow, schema, cwd } = flags;
  const common: SessionInput = {
    ...(cwd !== "." && { cwd }),
    ...(flags.input !== undefined && { inputs: givenInputs(flags) }),
    ...(schema !== undefined && { output_schema: readSchema(schema) }),
  };
  const overrides: SessionInput = {
    ...common,
    ...(engine !== undefined && { engine }),
    ...(model !== undefined && { model }),
    ...(mode !== undefined && { mode }),
    ...(allow !== undefined && { allow: [...allow] }),
    budget: givenLimits(flags),
  };
  const place = await environmentFor(flags);
  if (agent === undefined) return { ...overrides, ...place };
  if (isAgentId(agent)) return { ...overrides, ...place, agent: { id: agent } };
  return { ...common, ...place, agent_definition: (await configureHere(flags)).agent };
}

/** Default environment: that of the server's project. */
async function environmentFor(flags: RunFlags): Promise<Pick<SessionInput, "environment">> {
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

/** Starts the turn and leaves it running on the server. */
async function detach(server: ChosenServer, message: MessageContent | undefined, flags: RunFlags): Promise<number> {
  if (message === undefined) throw nothingToDo([]);
  const { client } = server;
  const id = resumes(flags) ? await sendTo(server, message, flags) : await startWith(client, message, flags);
  if (flags.json === true) process.stdout.write(`${hiddenFreeJson({ session_id: id })}\n`);
  else {
    process.stdout.write(`${id}\n`);
    process.stderr.write(`Follow it: capstan sessions show ${shortId(id)} --follow\n`);
  }
  return 0;
}

async function startWith(client: CapstanClient, message: MessageContent, flags: RunFlags): Promise<string> {
  const input = await sessionInput(flags);
  return (await awaitServer(client.sessions.create({ ...input, message: sendable(message) }))).id;
}

async function sendTo(server: ChosenServer, message: MessageContent, flags: RunFlags): Promise<string> {
  const session = await openRemoteSession(server, flags, new AbortController().signal);
  await awaitServer(server.client.sessions.send(session.id, sendable(message)));
  return session.id;
}
