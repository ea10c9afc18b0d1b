import { CapstanError, messageOf } from "../../core/errors.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Session } from "../../runtime/session.ts";
import { shortId } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** The turns of dead hosts that this host continues in addition to its own. */
export interface OtherTurns {
  /** Stops them and keeps their work. */
  interrupt(): Promise<void>;
  /** Waits for them and reports how each ended. `failure` is why the host's own turn failed. */
  wait(failure?: unknown): Promise<void>;
}

export interface Settling {
  readonly project: string;
  readonly onCrash: "continue" | "stop";
  /** Receives the reports. Default: standard error. */
  readonly say?: (text: string) => void;
  /** The command that resumes one of them. */
  readonly resumeCommand?: (id: string) => string;
}

/**
 * Ends or continues the turns that dead hosts left in sessions of this project, as `onCrash` says. Sessions of other
 * projects may have another policy and stay as they are.
 */
export async function settleAbandoned(
  host: Runtime,
  { project, onCrash, say = toStderr, resumeCommand = (id) => `capstan run --resume ${shortId(id)} "…"` }: Settling,
): Promise<OtherTurns> {
  const left = await abandonedIn(host, project);
  const reporting = { say, resumeCommand };
  if (onCrash === "continue") return continueTurns(host, left, reporting);
  for (const id of left) await endTurn(host, id, reporting);
  return continueTurns(host, [], reporting);
}

type Reporting = Required<Pick<Settling, "say" | "resumeCommand">>;

async function abandonedIn(host: Runtime, project: string): Promise<readonly string[]> {
  const abandoned = await host.abandoned();
  if (abandoned.length === 0) return [];
  const inTurns = (["running", "rescheduling"] as const).map((status) => host.sessions({ project, status }));
  const here = (await Promise.all(inTurns)).flat();
  return here.flatMap(({ id }) => (abandoned.includes(id) ? [id] : []));
}

async function endTurn(host: Runtime, id: string, { say, resumeCommand }: Reporting): Promise<void> {
  try {
    await using _session = await host.resumeSession(id, { onCrash: "stop" });
    say(
      `Session ${shortId(id)} was interrupted when its host died; Capstan ended the turn. Continue with: ${resumeCommand(id)}`,
    );
  } catch (thrown) {
    reportFailedRecovery(id, thrown, say);
  }
}

function continueTurns(host: Runtime, ids: readonly string[], { say, resumeCommand }: Reporting): OtherTurns {
  const stop = new AbortController();
  const open = new Set<string>(ids);
  const turns = ids.map(async (id) => {
    say(`Continuing session ${shortId(id)}, which was interrupted when its host died.`);
    try {
      const after = (await host.read(id)).at(-1)?.seq ?? 0;
      await using session = await host.resumeSession(id, { onCrash: "continue" });
      const ended = await endOf(session, { after, signal: stop.signal });
      say(`Session ${shortId(id)}: ${ended ?? `interrupted. Continue with: ${resumeCommand(id)}`}`);
    } catch (thrown) {
      reportFailedRecovery(id, thrown, say);
    } finally {
      open.delete(id);
    }
  });
  const interrupt = async (): Promise<void> => {
    stop.abort();
    await Promise.all(turns);
  };
  return {
    interrupt,
    async wait(failure) {
      // A store that fails for one session fails for all, so nothing they do could be saved.
      if (failure instanceof CapstanError && failure.code.startsWith("store_")) return interrupt();
      if (open.size > 0)
        say(`Waiting for ${[...open].map(shortId).join(", ")}. Press Ctrl-C to stop; finished work is kept.`);
      await Promise.all(turns);
    },
  };
}

/**
 * Follows the current turn to its end and returns how it ended; undefined if it was interrupted. `after` is the last
 * event that the dead host wrote.
 */
async function endOf(
  session: Session,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const following = new AbortController();
  const interrupt = (): void => {
    // If the interrupt cannot be saved, there is nothing to wait for.
    void session
      .interrupt()
      .catch(() => {})
      .finally(() => following.abort());
  };
  if (signal.aborted) interrupt();
  else signal.addEventListener("abort", interrupt, { once: true });
  let failure: string | undefined;
  for await (const event of session.events({ after, signal: following.signal })) {
    if (event.type === "session.error") failure = event.error.message;
    // An undelivered message becomes its own turn after the interrupted one.
    if (event.type === "session.status_idle" && session.state.status === "idle") break;
  }
  const { status, stopReason } = session.state;
  if (signal.aborted) return undefined;
  if (status !== "idle") return "another process took it over.";
  if (stopReason?.type === "retries_exhausted" && failure !== undefined) return failure;
  return `turn ended (${stopReason?.type ?? "?"}).`;
}

/** Reports a failure, unless another process took the session over first. */
function reportFailedRecovery(id: string, thrown: unknown, say: Reporting["say"]): void {
  if (thrown instanceof CapstanError && thrown.code === "session_busy") return;
  say(`Session ${shortId(id)} was interrupted when its host died and cannot be recovered: ${messageOf(thrown)}`);
}

function toStderr(text: string): void {
  process.stderr.write(`capstan: ${escapeHidden(text)}\n`);
}
