import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Configuration, loadConfiguration } from "../config/load.ts";
import { parseDuration } from "../config/duration.ts";
import type { Mode } from "../core/agent-definition.ts";
import type { SessionBudget } from "../core/budget-schema.ts";
import type { SandboxSettings, WorkspaceKind } from "../core/environment.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Session } from "../runtime/session.ts";
import { usage } from "./failure.ts";
import { settleAbandoned } from "./abandoned.ts";
import type { Asking } from "./ask.ts";
import { attend, converse } from "./converse.ts";
import { CopyLine } from "./copy-progress.ts";
import { INTERRUPTED } from "./interrupt.ts";
import { nothingToDo, readMessage } from "./message.ts";
import { lastSession, resolveSession } from "./session-id.ts";
import { printable } from "./text.ts";

export interface RunFlags {
  readonly agent?: string;
  readonly cwd: string;
  readonly model?: string;
  readonly mode?: Mode;
  readonly allow?: readonly string[];
  readonly yes?: boolean;
  readonly deny?: boolean;
  readonly schema?: string;
  readonly file?: readonly string[];
  readonly json?: boolean;
  readonly resume?: string;
  readonly fork?: string;
  readonly continue?: boolean;
  readonly maxTurns?: number;
  readonly maxUsd?: number;
  readonly timeout?: string;
  readonly workspace?: WorkspaceKind;
  readonly sandbox?: SandboxSettings["mode"];
  readonly rehearsal?: boolean;
  readonly trace?: string;
}

/** One message, one turn. Returns the exit code. */
export async function run(words: readonly string[], flags: RunFlags): Promise<number> {
  if ([flags.resume, flags.fork, flags.continue].filter((flag) => flag !== undefined).length > 1)
    throw usage("--resume, --fork and --continue exclude each other. Give one of them.");
  if (flags.yes === true && flags.deny === true) throw usage("--yes and --deny exclude each other. Give one of them.");
  if (flags.resume !== undefined || flags.fork !== undefined || flags.continue === true) refuseForGoingOn(flags);
  const trace = openTrace(flags.trace);
  try {
    const configuration = await configure(flags);
    const message = await readMessage(words, flags.file ?? []);
    // A session that waits for an answer goes on without being told anything.
    const mayBeEmpty = flags.resume !== undefined || flags.continue === true;
    if (message === undefined && !(mayBeEmpty && flags.file === undefined)) throw nothingToDo(flags.file ?? []);
    return await attend(configuration, flags, async ({ options, interruptible }) => {
      const { host, asking, stopping } = options;
      const opening = openSession(host, { configuration, flags, asking, signal: options.signal });
      const session = await opening.catch((thrown: unknown) => {
        // Files were being copied when somebody had enough.
        if (stopping.stopped) return undefined;
        throw thrown;
      });
      if (session === undefined) return INTERRUPTED;
      interruptible(session);
      const others = await settleAbandoned(host, {
        project: configuration.project.id,
        onCrash: configuration.settings.on_crash,
      });
      interruptible(others);
      if (stopping.stopped) {
        await others.interrupt();
        return INTERRUPTED;
      }
      const code = await converse(session, message, { ...options, trace }).catch(async (thrown: unknown) => {
        await others.over(thrown);
        throw thrown;
      });
      await others.over();
      if (code === undefined) throw nothingToDo([]);
      return stopping.stopped ? INTERRUPTED : code;
    });
  } catch (thrown) {
    trace(stackOf(thrown));
    throw thrown;
  }
}

/** Writes lines to the file, or nowhere. It holds everything that was said, so it is for its owner alone. */
function openTrace(file: string | undefined): (line: string) => void {
  if (file === undefined) return () => {};
  try {
    writeFileSync(file, "", { mode: 0o600 });
  } catch (thrown) {
    throw usage(`The trace cannot be written: ${messageOf(thrown)}. Choose another file.`);
  }
  return (line) => appendFileSync(file, `${line}\n`);
}

async function configure(flags: RunFlags): Promise<Configuration> {
  return loadConfiguration({
    cwd: resolve(flags.cwd),
    environment: process.env,
    agentFile: flags.agent === undefined ? undefined : resolve(flags.agent),
    flags: {
      model: flags.model,
      mode: flags.mode,
      allow: flags.allow,
      max_usd: flags.maxUsd,
      max_turns: flags.maxTurns,
      timeout_ms: flags.timeout === undefined ? undefined : parseDuration(flags.timeout),
      workspace: flags.workspace,
      sandbox: flags.sandbox,
    },
  });
}

async function openSession(
  host: Runtime,
  {
    configuration,
    flags,
    asking,
    signal,
  }: { configuration: Configuration; flags: RunFlags; asking: Asking; signal: AbortSignal },
): Promise<Session> {
  const { project, settings } = configuration;
  const askPermission = asking.handler;
  const cwd = resolve(flags.cwd);
  const agent =
    flags.schema === undefined
      ? configuration.agent
      : { ...configuration.agent, output_schema: readSchema(flags.schema) };
  if (flags.fork !== undefined) {
    const parent = await resolveSession(host, flags.fork);
    const place = await placeToGoOn(host, parent, flags);
    return steered(told(await host.forkSession(parent, { ...place, askPermission }), flags), flags);
  }
  const resumed =
    flags.continue === true
      ? await lastSession(host, project.id)
      : flags.resume && (await resolveSession(host, flags.resume));
  if (resumed === undefined) {
    using copying = new CopyLine(process.stderr);
    const environment = configuration.sessionEnvironment;
    const place = { cwd, environment, onProgress: copying.show, signal };
    return told(await host.startSession({ agent, ...place, project: project.id, askPermission }), flags);
  }
  const budget = raisedLimits(flags);
  const place = await placeToGoOn(host, resumed, flags);
  const options = { ...place, onCrash: settings.on_crash, askPermission, budget };
  return steered(await host.resumeSession(resumed, options), flags);
}

/** A session with a workspace of its own goes on there, wherever the command is run; only a wish for a place is passed on. */
async function placeToGoOn(host: Runtime, id: string, flags: RunFlags): Promise<{ readonly cwd?: string }> {
  const record = (await host.sessions()).find((session) => session.id === id);
  const isOwn = record !== undefined && record.environment.workspace.kind !== "in-place";
  return isOwn && flags.cwd === "." ? {} : { cwd: resolve(flags.cwd) };
}

/** What a person should know of the workspace that was made. */
function told(session: Session, { json }: RunFlags): Session {
  const notes = json === true ? [] : (session.state.files.workspace?.notes ?? []);
  for (const note of notes) process.stderr.write(`capstan: ${printable(note)}\n`);
  return session;
}

/** Model and mode can change in a session that goes on. */
async function steered(session: Session, flags: RunFlags): Promise<Session> {
  if (flags.model !== undefined) await session.setModel(flags.model);
  if (flags.mode !== undefined) await session.setMode(flags.mode);
  return session;
}

/** A session that goes on keeps its limits but for those that are given anew. */
function raisedLimits({ maxUsd, maxTurns, timeout }: RunFlags): SessionBudget {
  return {
    ...(maxUsd !== undefined && { usd: maxUsd }),
    ...(maxTurns !== undefined && { steps: maxTurns }),
    ...(timeout !== undefined && { deadline_ms: parseDuration(timeout) }),
  };
}

/** What a session is started with and keeps: given to one that goes on, it would be ignored. */
const AT_START = {
  agent: "--agent",
  schema: "--schema",
  allow: "--allow",
  workspace: "--workspace",
  sandbox: "--sandbox",
} as const;

/** A fork takes over its parent's limits as they are. */
const AT_FORK = { ...AT_START, maxUsd: "--max-usd", maxTurns: "--max-turns", timeout: "--timeout" } as const;

function refuseForGoingOn(flags: RunFlags): void {
  const kept: Partial<typeof AT_FORK> = flags.fork === undefined ? AT_START : AT_FORK;
  const given = Object.entries(kept).flatMap(([key, flag]) =>
    flags[key as keyof typeof AT_FORK] === undefined ? [] : [flag],
  );
  if (given.length > 0)
    throw usage(
      `A session that goes on keeps what it was started with, so ${given.join(", ")} cannot be changed. Leave it out, or start a new session.`,
    );
}

function readSchema(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch (thrown) {
    throw new CapstanError("invalid_schema", `The schema ${file} cannot be read as JSON: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
