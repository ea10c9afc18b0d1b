import type { Configuration } from "../config/load.ts";
import { Asking } from "./ask.ts";
import { follow, isWaiting, underWay, waiting } from "./follow.ts";
import { hostFor } from "./host.ts";
import { INTERRUPTED, interruptOnSignal } from "./interrupt.ts";

/** Goes on with a session that somebody has answered, and follows it as `run` does. Returns the exit code. */
export async function resume(
  sessionId: string,
  {
    configuration,
    flags,
  }: { configuration: Configuration; flags: { readonly rehearsal?: boolean; readonly json?: boolean } },
): Promise<number> {
  const turns: { interrupt(): Promise<void> }[] = [];
  const leaving = new AbortController();
  let asking: Asking | undefined;
  using stopping = interruptOnSignal(async (isWanted) => {
    leaving.abort();
    if (!isWanted && asking?.leave() === true) return;
    await Promise.all(turns.map((turn) => turn.interrupt()));
  });
  await using host = await hostFor(configuration, flags.rehearsal);
  asking = new Asking(host, flags);
  const session = await host.resumeSession(sessionId, {
    onCrash: configuration.settings.on_crash,
    askPermission: asking.handler,
  });
  turns.push(session);
  const options = {
    host,
    asking,
    stopping,
    json: flags.json === true,
    rehearsal: flags.rehearsal === true,
    signal: leaving.signal,
  };
  if (isWaiting(session)) await asking.askPending(session.id, leaving.signal);
  if (stopping.stopped) return INTERRUPTED;
  if (session.state.status === "running") return await follow(session, await underWay(session, host), options);
  return isWaiting(session) ? await waiting(session, options) : 0;
}
