import { resolve } from "node:path";
import type { Configuration } from "../../config/load.ts";
import { withheldNote } from "../../config/trust/withheld-note.ts";
import type { CopyProgress } from "../../core/ports/workspace.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Session } from "../../runtime/session.ts";
import { settleAbandoned } from "./settle-abandoned.ts";
import type { Asking } from "../ask/ask.ts";
import { configure } from "./configure.ts";
import { attend, converse, continueMessage } from "./converse.ts";
import { CopyLine } from "../workspace/copy-progress.ts";
import { usageError } from "../terminal/failure.ts";
import { hostFor } from "../target/host.ts";
import { EXIT_INTERRUPTED } from "../terminal/interrupt.ts";
import { nothingToDo } from "./message.ts";
import { givenInputs, givenLimits, requireCompatible, type RunFlags } from "./run-flags.ts";
import { messageFor, readSchema } from "./run-input.ts";
import { reportNotes } from "./workspace-notes.ts";
import { chosenServer } from "../target/server.ts";
import { lastSession, resolveSession } from "../target/session-id.ts";
import { openTrace, type Trace } from "./trace.ts";
import { requirePerson } from "../terminal/person.ts";

/** Sends one message and shows the turn. Returns the exit code. */
export async function run(words: readonly string[], flags: RunFlags): Promise<number> {
  requireCompatible(flags);
  if (flags.yes === true) await requirePerson("--yes", "answer approvals");
  const server = await chosenServer();
  if (flags.detach === true && server === undefined)
    throw usageError(
      "--detach needs a server, and CAPSTAN_URL is not set. Start one with capstan serve, then set CAPSTAN_URL and CAPSTAN_KEY.",
    );
  const trace = openTrace(flags.trace);
  try {
    if (server === undefined) return await runLocal(words, flags, trace);
    const { runRemote } = await import("./run-remote.ts");
    return await runRemote(server, { words, flags, trace });
  } catch (thrown) {
    trace(stackOf(thrown));
    throw thrown;
  }
}

async function runLocal(words: readonly string[], flags: RunFlags, trace: Trace): Promise<number> {
  const configuration = await configure(flags);
  const message = await messageFor(words, flags);
  const open = (): Promise<Runtime> => hostFor(configuration, flags.rehearsal);
  return attend(open, flags, async ({ host, options, interruptible }) => {
    const { asking, stopping } = options;
    const opening = openSession(host, { configuration, flags, asking, signal: options.signal });
    const session = await opening.catch((thrown: unknown) => {
      // The user canceled while files were being copied.
      if (stopping.stopped) return undefined;
      throw thrown;
    });
    if (session === undefined) return EXIT_INTERRUPTED;
    interruptible(session);
    const others = await settleAbandoned(host, {
      project: configuration.project.id,
      onCrash: configuration.settings.on_crash,
    });
    interruptible(others);
    if (stopping.stopped) {
      await others.interrupt();
      return EXIT_INTERRUPTED;
    }
    const code = await converse(session, message ?? continueMessage(session), { ...options, trace }).catch(
      async (thrown: unknown) => {
        await others.wait(thrown);
        throw thrown;
      },
    );
    await others.wait();
    if (code === undefined) throw nothingToDo([]);
    return stopping.stopped ? EXIT_INTERRUPTED : code;
  });
}

interface Opening {
  readonly configuration: Configuration;
  readonly flags: RunFlags;
  readonly asking: Asking;
  readonly signal: AbortSignal;
  /** Called while files are copied. Default: show a line on standard error. */
  readonly onProgress?: (progress: CopyProgress) => void;
}

/** Opens the session that the flags name: a new one, an existing one or a fork. */
export async function openSession(
  host: Runtime,
  { configuration, flags, asking, signal, onProgress }: Opening,
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
    const place = await resumeDirectory(host, parent, flags);
    return changeSession(reportNotes(await host.forkSession(parent, { ...place, askPermission }), flags), flags);
  }
  const resumed =
    flags.continue === true
      ? await lastSession(host, { project: project.id, directory: cwd })
      : flags.resume && (await resolveSession(host, flags.resume));
  if (resumed === undefined) {
    using copying = new CopyLine(process.stderr);
    const environment = configuration.sessionEnvironment;
    const place = { cwd, environment, onProgress: onProgress ?? copying.show, signal };
    const trusted = { programs: configuration.programs, withheld: withheldNote(configuration) };
    const given = { agent, inputs: givenInputs(flags), project: project.id, askPermission };
    return reportNotes(await host.startSession({ ...given, ...place, ...trusted }), flags);
  }
  const budget = givenLimits(flags);
  const place = await resumeDirectory(host, resumed, flags);
  const { engine } = flags;
  const options = { ...place, onCrash: settings.on_crash, askPermission, budget, ...(engine && { engine }) };
  return changeSession(await host.resumeSession(resumed, options), flags);
}

/** A session with its own workspace continues there; only an explicit `--cwd` is passed on. */
async function resumeDirectory(host: Runtime, id: string, flags: RunFlags): Promise<{ readonly cwd?: string }> {
  const record = (await host.sessions()).find((session) => session.id === id);
  const isOwn = record !== undefined && record.environment.workspace.kind !== "in-place";
  return isOwn && flags.cwd === "." ? {} : { cwd: resolve(flags.cwd) };
}

/** Applies the flags that can change in an existing session. */
async function changeSession(session: Session, flags: RunFlags): Promise<Session> {
  if (flags.engine !== undefined) await session.setEngine(flags.engine);
  if (flags.model !== undefined) await session.setModel(flags.model);
  if (flags.mode !== undefined) await session.setMode(flags.mode);
  return session;
}

function stackOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
