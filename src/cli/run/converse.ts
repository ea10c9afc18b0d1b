import { type AskFlags, Asking } from "../ask/ask.ts";
import { follow, type FollowOptions, goesOn, isMoving, isWaiting, underWay, waiting } from "../follow/follow.ts";
import type { Followed, FollowedHost } from "../target/followed-session.ts";
import { INTERRUPTED, interruptOnSignal } from "../terminal/interrupt.ts";

interface Attended<Host> {
  readonly host: Host;
  readonly options: FollowOptions;
  /** Adds to what a signal ends. */
  readonly interruptible: (turn: { interrupt(): Promise<void> }) => void;
}

/** Opens a host for `work` that answers to whoever is here: a signal ends its turns, questions are put to them. */
export async function attend<Host extends FollowedHost & AsyncDisposable>(
  open: () => Promise<Host>,
  flags: AskFlags & { readonly rehearsal?: boolean },
  work: (attended: Attended<Host>) => Promise<number>,
): Promise<number> {
  const turns: { interrupt(): Promise<void> }[] = [];
  const leaving = new AbortController();
  let asking: Asking | undefined;
  // Before the host, so that it listens until everything is closed.
  using stopping = interruptOnSignal(async (isWanted) => {
    leaving.abort();
    if (!isWanted && asking?.leave() === true) return;
    await Promise.all(turns.map((turn) => turn.interrupt()));
  });
  await using host = await open();
  asking = new Asking(host, flags);
  return await work({
    host,
    options: {
      host,
      asking,
      stopping,
      json: flags.json === true,
      rehearsal: flags.rehearsal === true,
      signal: leaving.signal,
    },
    interruptible: (turn) => void turns.push(turn),
  });
}

/**
 * What was left open is asked about first; then the message, when there is one. Returns the exit code; undefined when
 * there was nothing to say, and nothing to wait for.
 */
export async function converse(
  session: Followed,
  message: Parameters<Followed["send"]>[0] | undefined,
  options: FollowOptions,
): Promise<number | undefined> {
  const wasAnswered = isWaiting(session) && (await options.asking.askPending(session.id, options.signal));
  if (options.stopping.stopped) return INTERRUPTED;
  if (message !== undefined) return follow(session, session.send(message), options);
  const moves = wasAnswered ? await goesOn(session) : isMoving(session);
  if (moves) return follow(session, await underWay(session, options.host), options);
  return isWaiting(session) ? waiting(session, options) : undefined;
}

/** What `run` says in a session whose last turn failed, when nobody says anything: what was asked for stands there. */
export function goOnMessage({ state }: Followed): string | undefined {
  const failed = state.status === "idle" && state.stopReason?.type === "retries_exhausted";
  return failed ? "Go on where you were cut off." : undefined;
}
