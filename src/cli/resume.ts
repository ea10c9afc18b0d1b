import type { Configuration } from "../config/load.ts";
import { attend, converse } from "./converse.ts";

/** Goes on with a session that somebody has answered, and follows it as `run` does. Returns the exit code. */
export async function resume(
  sessionId: string,
  {
    configuration,
    flags,
  }: { configuration: Configuration; flags: { readonly rehearsal?: boolean; readonly json?: boolean } },
): Promise<number> {
  return attend(configuration, flags, async ({ options, interruptible }) => {
    const session = await options.host.resumeSession(sessionId, {
      onCrash: configuration.settings.on_crash,
      askPermission: options.asking.handler,
    });
    interruptible(session);
    return (await converse(session, undefined, options)) ?? 0;
  });
}
