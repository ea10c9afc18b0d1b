import { loadConfiguration } from "../config/load.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { hostFor } from "./host.ts";
import { resolveSession } from "./session-id.ts";
import { shortId } from "./text.ts";

async function withHost<T>(
  rehearsal: boolean | undefined,
  work: (host: Runtime, onCrash: "continue" | "stop") => Promise<T>,
): Promise<T> {
  const configuration = await loadConfiguration({ cwd: process.cwd(), environment: process.env, flags: {} });
  const host = await hostFor(configuration, rehearsal);
  try {
    return await work(host, configuration.settings.on_crash);
  } finally {
    await host.close();
  }
}

export async function compact(given: string, flags: { readonly rehearsal?: boolean }): Promise<void> {
  await withHost(flags.rehearsal, async (host, onCrash) => {
    const session = await host.resumeSession(await resolveSession(host, given), { onCrash });
    await session.compact().result();
    process.stdout.write(`Session ${shortId(session.id)} goes on from a summary.\n`);
  });
}

export async function recover(flags: {
  readonly onCrash?: "continue" | "stop";
  readonly rehearsal?: boolean;
  readonly json?: boolean;
}): Promise<number> {
  return withHost(flags.rehearsal, async (host, onCrash) => {
    const recovered = await host.recover(flags.onCrash ?? onCrash);
    if (flags.json === true) process.stdout.write(recovered.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    else if (recovered.length === 0) process.stdout.write("No session was left by a dead host.\n");
    else
      for (const { sessionId, stopReason, error } of recovered)
        process.stdout.write(`Session ${shortId(sessionId)}: ${error ?? `the turn is over (${stopReason ?? "?"})`}\n`);
    return recovered.some(({ error }) => error !== undefined) ? 1 : 0;
  });
}
