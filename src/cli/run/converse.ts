import { type AskFlags, Asking } from "../ask/ask.ts";
import {
  follow,
  followCurrent,
  type FollowOptions,
  continues,
  isMoving,
  isWaiting,
  reportWaiting,
} from "../follow/follow.ts";
import type { Followed, FollowedHost } from "../target/followed-session.ts";
import { EXIT_INTERRUPTED, interruptOnSignal } from "../terminal/interrupt.ts";

interface Attended<Host> {
  readonly host: Host;
  readonly options: FollowOptions;
  /** Registers a turn that a signal interrupts. */
  readonly interruptible: (turn: { interrupt(): Promise<void> }) => void;
}

/** Opens a host for `work`. Signals interrupt its turns; its questions go to the person at the terminal. */
export async function attend<Host extends FollowedHost & AsyncDisposable>(
  open: () => Promise<Host>,
  flags: AskFlags & { readonly rehearsal?: boolean },
  work: (attended: Attended<Host>) => Promise<number>,
): Promise<number> {
  const turns: { interrupt(): Promise<void> }[] = [];
  const leaving = new AbortController();
  let asking: Asking | undefined;
  // Created before the host, so that it is disposed of last.
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
 * Asks pending questions, then sends the message, if any. Returns the exit code; undefined if there was nothing to send
 * and nothing to wait for.
 */
export async function converse(
  session: Followed,
  message: Parameters<Followed["send"]>[0] | undefined,
  options: FollowOptions,
): Promise<number | undefined> {
  const wasAnswered = isWaiting(session) && (await options.asking.askPending(session.id, options.signal));
  if (options.stopping.stopped) return EXIT_INTERRUPTED;
  if (message !== undefined) return follow(session, session.send(message), options);
  const moves = wasAnswered ? await continues(session) : isMoving(session);
  if (moves) return followCurrent(session, options);
  return isWaiting(session) ? reportWaiting(session, options) : undefined;
}

/** The message that `run` sends if the last turn failed and the user gave none. */
export function continueMessage({ state }: Followed): string | undefined {
  const failed = state.status === "idle" && state.stopReason?.type === "retries_exhausted";
  return failed ? "Continue where you left off." : undefined;
}
