import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { assemble } from "../../../src/app/assemble.ts";
import { clock } from "../../../src/app/clock.ts";
import type { AgentInput } from "../../../src/core/agent/agent-definition.ts";
import { CapstanError } from "../../../src/core/errors.ts";
import { upstreamsFor } from "../../../src/gateway/upstreams/upstreams.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { crashing, type CrashPoint } from "./crashing-store.ts";

/** A host in a process of its own that works on one task, and may kill itself before or after one of its appends. */
export interface HostTask {
  readonly home: string;
  readonly cwd: string;
  readonly environment: Record<string, string>;
  readonly agent: AgentInput;
  /** Undefined to live. */
  readonly crash?: CrashPoint;
}

export type HostReport =
  | { readonly kind: "started"; readonly sessionId: string }
  | { readonly kind: "done"; readonly appends: Readonly<Record<"log" | "transcript", number>> };

process.once("message", (task: HostTask) => void run(task));

async function run(task: HostTask): Promise<void> {
  const { home, cwd, environment, agent, crash } = task;
  mkdirSync(home, { recursive: true });
  const counted = crashing(await openSqliteStore({ path: join(home, "capstan.db"), clock }), crash);
  const settings = {
    home,
    path: environment["PATH"] ?? "",
    retries: 1,
    upstreamIdleMs: 60_000,
    hibernateAfterMs: 60_000,
  };
  await using host = await assemble(settings, {
    store: counted.store,
    upstream: await upstreamsFor({ environment })(),
  });
  const session = await host.startSession({ agent, cwd });
  report({ kind: "started", sessionId: session.id });
  for (let message = "work"; ; message = "go on") {
    try {
      await session.send(message).result();
      break;
    } catch (thrown) {
      // The agent process was killed from outside: the session must be able to go on.
      if (!(thrown instanceof CapstanError) || thrown.code !== "engine_lost") throw thrown;
    }
  }
  report({ kind: "done", appends: counted.appends() });
  process.disconnect();
}

function report(message: HostReport): void {
  process.send?.(message);
}
