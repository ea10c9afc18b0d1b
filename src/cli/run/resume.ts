import type { Configuration } from "../../config/load.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { attend, converse } from "./converse.ts";
import { hostFor } from "../target/host.ts";

/** Continues a session after an answer, and follows it like `run`. Returns the exit code. */
export async function resume(
  sessionId: string,
  {
    configuration,
    flags,
  }: { configuration: Configuration; flags: { readonly rehearsal?: boolean; readonly json?: boolean } },
): Promise<number> {
  const open = (): Promise<Runtime> => hostFor(configuration, flags.rehearsal);
  return attend(open, flags, async ({ host, options, interruptible }) => {
    const session = await host.resumeSession(sessionId, {
      onCrash: configuration.settings.on_crash,
      askPermission: options.asking.handler,
    });
    interruptible(session);
    return (await converse(session, undefined, options)) ?? 0;
  });
}
