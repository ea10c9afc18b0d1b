import { loadConfiguration } from "../../config/load.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { hostFor } from "../target/host.ts";
import { type ChosenServer, chosenServer } from "../target/server.ts";
import { resolveSession } from "../target/session-id.ts";
import { shortId } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

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
  const server = await chosenServer();
  if (server !== undefined) return compactOnServer(server, given);
  await withHost(flags.rehearsal, async (host, onCrash) => {
    const session = await host.resumeSession(await resolveSession(host, given), { onCrash });
    await session.compact().result();
    process.stdout.write(`Session ${shortId(session.id)} continues from a summary.\n`);
  });
}

async function compactOnServer(server: ChosenServer, given: string): Promise<void> {
  const [{ remoteRecords }, { RemoteSession }, { awaitServer }] = await Promise.all([
    import("../target/remote-records.ts"),
    import("../target/remote-session.ts"),
    import("../target/remote-failure.ts"),
  ]);
  const id = await resolveSession(remoteRecords(server), given);
  const session = new RemoteSession(server.client, await awaitServer(server.client.sessions.get(id)));
  await session.compact().result();
  process.stdout.write(`Session ${shortId(id)} continues from a summary.\n`);
}

export async function recover(flags: {
  readonly onCrash?: "continue" | "stop";
  readonly rehearsal?: boolean;
  readonly json?: boolean;
}): Promise<number> {
  return withHost(flags.rehearsal, async (host, onCrash) => {
    const recovered = await host.recover(flags.onCrash ?? onCrash);
    if (flags.json === true) process.stdout.write(recovered.map((entry) => `${hiddenFreeJson(entry)}\n`).join(""));
    else if (recovered.length === 0) process.stdout.write("No sessions to recover.\n");
    else
      for (const { sessionId, stopReason, error } of recovered)
        process.stdout.write(
          `Session ${shortId(sessionId)}: ${escapeHidden(error ?? `turn ended (${stopReason ?? "?"})`)}\n`,
        );
    return recovered.some(({ error }) => error !== undefined) ? 1 : 0;
  });
}
