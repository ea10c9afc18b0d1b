import type { Configuration } from "../config/load.ts";
import type { Session } from "../runtime/session.ts";
import { type AskFlags, Asking } from "./ask.ts";
import { follow, type FollowOptions, isWaiting, underWay, waiting } from "./follow.ts";
import { hostFor } from "./host.ts";
import { INTERRUPTED, interruptOnSignal } from "./interrupt.ts";

interface Attended {
  readonly options: FollowOptions;
  /** Adds to what a signal ends. */
  readonly interruptible: (turn: { interrupt(): Promise<void> }) => void;
}

/** Opens a host for `work` that answers to whoever is here: a signal ends its turns, questions are put to them. */
export async function attend(
  configuration: Configuration,
  flags: AskFlags & { readonly rehearsal?: boolean },
  work: (attended: Attended) => Promise<number>,
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
  await using host = await hostFor(configuration, flags.rehearsal);
  asking = new Asking(host, flags);
  return await work({
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
  session: Session,
  message: Parameters<Session["send"]>[0] | undefined,
  options: FollowOptions,
): Promise<number | undefined> {
  if (isWaiting(session)) await options.asking.askPending(session.id, options.signal);
  if (options.stopping.stopped) return INTERRUPTED;
  if (message !== undefined) return follow(session, session.send(message), options);
  if (session.state.status === "running") return follow(session, await underWay(session, options.host), options);
  return isWaiting(session) ? waiting(session, options) : undefined;
}
