import { openHost } from "../app/open-host.ts";
import { loadConfiguration } from "../config/load.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { resolveSession } from "./session-id.ts";
import { shortId } from "./text.ts";

async function withHost<T>(
  rehearsal: boolean | undefined,
  work: (host: Runtime, onCrash: "continue" | "stop") => Promise<T>,
): Promise<T> {
  const { home, environment, settings } = await loadConfiguration({
    cwd: process.cwd(),
    environment: process.env,
    flags: {},
  });
  const host = await openHost({ home, environment, rehearsal: rehearsal === true, retries: settings.retries });
  try {
    return await work(host, settings.on_crash);
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
