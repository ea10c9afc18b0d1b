import { CapstanError, messageOf } from "../../core/errors.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Session } from "../../runtime/session.ts";
import { shortId } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** The turns of dead hosts that this host goes on with, beside its own. */
export interface OtherTurns {
  /** Ends them and keeps their work. */
  interrupt(): Promise<void>;
  /** Waits for them and tells how each ended. `failure` is why the host's own turn failed. */
  over(failure?: unknown): Promise<void>;
}

export interface Settling {
  readonly project: string;
  readonly onCrash: "continue" | "stop";
  /** Told what becomes of them. Default: standard error. */
  readonly say?: (text: string) => void;
  /** How to go on with one of them. */
  readonly goOnWith?: (id: string) => string;
}

/**
 * Sessions of this project that dead hosts left in a turn: their turns are ended, or gone on with, as the policy says. Those of other
 * projects may have another policy, and are left alone.
 */
export async function settleAbandoned(
  host: Runtime,
  { project, onCrash, say = toStderr, goOnWith = (id) => `capstan run --resume ${shortId(id)} "…"` }: Settling,
): Promise<OtherTurns> {
  const left = await abandonedIn(host, project);
  const telling = { say, goOnWith };
  if (onCrash === "continue") return goOn(host, left, telling);
  for (const id of left) await end(host, id, telling);
  return goOn(host, [], telling);
}

type Telling = Required<Pick<Settling, "say" | "goOnWith">>;

async function abandonedIn(host: Runtime, project: string): Promise<readonly string[]> {
  const abandoned = await host.abandoned();
  if (abandoned.length === 0) return [];
  const inTurns = (["running", "rescheduling"] as const).map((status) => host.sessions({ project, status }));
  const here = (await Promise.all(inTurns)).flat();
  return here.flatMap(({ id }) => (abandoned.includes(id) ? [id] : []));
}

async function end(host: Runtime, id: string, { say, goOnWith }: Telling): Promise<void> {
  try {
    await using _session = await host.resumeSession(id, { onCrash: "stop" });
    say(`Session ${shortId(id)} was left in a turn by a dead host; the turn is ended. Go on with: ${goOnWith(id)}`);
  } catch (thrown) {
    sayUnlessTaken(id, thrown, say);
  }
}

function goOn(host: Runtime, ids: readonly string[], { say, goOnWith }: Telling): OtherTurns {
  const stop = new AbortController();
  const open = new Set<string>(ids);
  const turns = ids.map(async (id) => {
    say(`Going on with session ${shortId(id)}, which a dead host left in a turn.`);
    try {
      const after = (await host.read(id)).at(-1)?.seq ?? 0;
      await using session = await host.resumeSession(id, { onCrash: "continue" });
      const ended = await endOf(session, { after, signal: stop.signal });
      say(`Session ${shortId(id)}: ${ended ?? `interrupted. Go on with: ${goOnWith(id)}`}`);
    } catch (thrown) {
      sayUnlessTaken(id, thrown, say);
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
    async over(failure) {
      // A store that fails one session fails them all; nothing of what they do could be stored.
      if (failure instanceof CapstanError && failure.code.startsWith("store_")) return interrupt();
      if (open.size > 0)
        say(`Waiting for ${[...open].map(shortId).join(", ")}. Ctrl-C ends the turn and keeps its work.`);
      await Promise.all(turns);
    },
  };
}

/**
 * Follows the turn under way to its end, and says how it ended; undefined when it was interrupted. `after` is where the
 * dead host left the log.
 */
async function endOf(
  session: Session,
  { after, signal }: { readonly after: number; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const following = new AbortController();
  const interrupt = (): void => {
    // When the interrupt cannot be stored, there is nothing more to wait for either.
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
    // A message that the dead host had not delivered is a turn of its own, after the one that was cut off.
    if (event.type === "session.status_idle" && session.state.status === "idle") break;
  }
  const { status, stopReason } = session.state;
  if (signal.aborted) return undefined;
  if (status !== "idle") return "another process has taken it.";
  if (stopReason?.type === "retries_exhausted" && failure !== undefined) return failure;
  return `the turn is over (${stopReason?.type ?? "?"}).`;
}

/** Another process that was faster settles the session, and says so there. */
function sayUnlessTaken(id: string, thrown: unknown, say: Telling["say"]): void {
  if (thrown instanceof CapstanError && thrown.code === "session_busy") return;
  say(`Session ${shortId(id)} was left in a turn by a dead host and cannot be settled: ${messageOf(thrown)}`);
}

function toStderr(text: string): void {
  process.stderr.write(`capstan: ${escapeHidden(text)}\n`);
}
