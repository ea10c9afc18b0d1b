import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Configuration, loadConfiguration } from "../config/load.ts";
import { parseDuration } from "../config/duration.ts";
import type { Mode } from "../core/agent-definition.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { Preview, LoggedEvent } from "../core/events.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Session } from "../runtime/session.ts";
import type { Turn, TurnResult } from "../runtime/turn.ts";
import { usage } from "./failure.ts";
import { hostFor } from "./host.ts";
import { readMessage } from "./message.ts";
import { RunView } from "./run-view.ts";
import { lastSession, resolveSession } from "./session-id.ts";
import { shortId } from "./text.ts";

export interface RunFlags {
  readonly agent?: string;
  readonly cwd: string;
  readonly model?: string;
  readonly mode?: Mode;
  readonly allow?: readonly string[];
  readonly schema?: string;
  readonly file?: readonly string[];
  readonly json?: boolean;
  readonly resume?: string;
  readonly fork?: string;
  readonly continue?: boolean;
  readonly maxTurns?: number;
  readonly maxUsd?: number;
  readonly timeout?: string;
  readonly rehearsal?: boolean;
  readonly trace?: string;
}

const INTERRUPTED = 130;

/** One message, one turn. Returns the exit code. */
export async function run(words: readonly string[], flags: RunFlags): Promise<number> {
  if ([flags.resume, flags.fork, flags.continue].filter((flag) => flag !== undefined).length > 1)
    throw usage("--resume, --fork and --continue exclude each other. Give one of them.");
  if (flags.resume !== undefined || flags.fork !== undefined || flags.continue === true) refuseForGoingOn(flags);
  const trace = openTrace(flags.trace);
  try {
    const configuration = await configure(flags);
    const message = await readMessage(words, flags.file ?? []);
    await using host = await hostFor(configuration, flags.rehearsal);
    const session = await openSession(host, { configuration, flags });
    await settleAbandoned(host, configuration.settings.on_crash);
    return await follow(session, { message, flags, trace });
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

/** Sessions of dead hosts are ended when that is the policy; going on with them costs money, and is left to the user. */
async function settleAbandoned(host: Runtime, onCrash: "continue" | "stop"): Promise<void> {
  if (onCrash === "stop") {
    for (const { sessionId } of await host.recover("stop"))
      process.stderr.write(
        `capstan: Session ${shortId(sessionId)} was left in a turn by a dead host; the turn is ended.\n`,
      );
    return;
  }
  const left = await host.abandoned();
  if (left.length > 0)
    process.stderr.write(
      `capstan: ${left.length === 1 ? "A session was" : `${left.length} sessions were`} left in a turn by a dead host. Go on with: capstan sessions recover\n`,
    );
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
    },
  });
}

async function openSession(
  host: Runtime,
  { configuration, flags }: { configuration: Configuration; flags: RunFlags },
): Promise<Session> {
  const { project, settings } = configuration;
  const cwd = resolve(flags.cwd);
  const agent =
    flags.schema === undefined
      ? configuration.agent
      : { ...configuration.agent, output_schema: readSchema(flags.schema) };
  if (flags.fork !== undefined)
    return steered(await host.forkSession(await resolveSession(host, flags.fork), { cwd }), flags);
  const resumed =
    flags.continue === true
      ? await lastSession(host, project.id)
      : flags.resume && (await resolveSession(host, flags.resume));
  if (resumed === undefined) return host.startSession({ agent, cwd, project: project.id });
  return steered(await host.resumeSession(resumed, { cwd, onCrash: settings.on_crash }), flags);
}

/** Model and mode can change in a session that goes on. */
async function steered(session: Session, flags: RunFlags): Promise<Session> {
  if (flags.model !== undefined) await session.setModel(flags.model);
  if (flags.mode !== undefined) await session.setMode(flags.mode);
  return session;
}

/** What a session is started with and keeps: given to one that goes on, it would be ignored. */
const AT_START = {
  agent: "--agent",
  schema: "--schema",
  allow: "--allow",
  maxUsd: "--max-usd",
  maxTurns: "--max-turns",
  timeout: "--timeout",
} as const;

function refuseForGoingOn(flags: RunFlags): void {
  const given = Object.entries(AT_START).flatMap(([key, flag]) =>
    flags[key as keyof typeof AT_START] === undefined ? [] : [flag],
  );
  if (given.length > 0)
    throw usage(
      `A session that goes on keeps what it was started with, so ${given.join(", ")} cannot be changed. Leave it out, or start a new session.`,
    );
}

async function follow(
  session: Session,
  {
    message,
    flags,
    trace,
  }: { message: Parameters<Session["send"]>[0]; flags: RunFlags; trace: (line: string) => void },
): Promise<number> {
  const view = flags.json === true ? undefined : new RunView(process.stdout, { rehearsal: flags.rehearsal === true });
  using stopping = interruptOnSignal(session);
  const turn = session.send(message);
  const result = await show(turn, { view, trace }).catch((thrown: unknown) => {
    view?.close(session.id);
    throw thrown;
  });
  if (view !== undefined && result.output !== undefined)
    process.stdout.write(`${JSON.stringify(result.output, null, 2)}\n`);
  if (process.stdout.errored === null) view?.close(session.id);
  if (stopping.stopped) {
    process.stderr.write(`capstan: Interrupted. Go on with: capstan run --resume ${shortId(session.id)} "…"\n`);
    return INTERRUPTED;
  }
  return exitCode(result);
}

async function show(
  turn: Turn,
  { view, trace }: { view: RunView | undefined; trace: (line: string) => void },
): Promise<TurnResult> {
  for await (const item of turn) {
    trace(JSON.stringify({ at: Date.now(), ...item }));
    if (process.stdout.errored !== null) continue;
    if (view !== undefined) view.show(item);
    else if (isEvent(item)) process.stdout.write(`${JSON.stringify(item)}\n`);
  }
  return turn.result();
}

function exitCode({ stopReason, limit }: TurnResult): number {
  switch (stopReason.type) {
    case "end_turn":
      return 0;
    case "requires_action":
      return 5;
    case "refusal":
      process.stderr.write("capstan: The model refused. Say it in another way, or ask for something else.\n");
      return 1;
    case "budget_reached":
      process.stderr.write(
        `capstan: The limit on ${limit?.which ?? "spending"} was reached (${limit?.limit ?? "?"}). Raise it to go on.\n`,
      );
      return 4;
    case "retries_exhausted":
      return 1;
  }
}

/** The first signal ends the turn and keeps the work; a second one leaves at once. */
function interruptOnSignal(session: Session): Disposable & { readonly stopped: boolean } {
  const stop = (): void => {
    if (stopping.stopped) return;
    stopping.stopped = true;
    // When not even that can be stored, the turn itself says why.
    session.interrupt().catch(() => {});
  };
  const stopping = {
    stopped: false,
    [Symbol.dispose]() {
      for (const signal of SIGNALS) process.off(signal, onSignal);
      process.stdout.off("error", stop);
    },
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // Agent processes die with this one. A terminal that goes away may say so twice, which is no second wish.
    if (stopping.stopped && signal !== "SIGHUP") process.exit(INTERRUPTED);
    stop();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // Nobody reads any more.
  process.stdout.once("error", stop);
  return stopping;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function isEvent(item: LoggedEvent | Preview): item is LoggedEvent {
  return "seq" in item;
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
