import { join } from "node:path";
import type { Store } from "../core/store.ts";
import { claudeEngine } from "../engines/claude/engine.ts";
import { openGateway } from "../gateway/gateway.ts";
import type { Upstream } from "../gateway/upstream.ts";
import { Runtime } from "../runtime/runtime.ts";
import { createToolServer } from "../tools/mcp-bridge.ts";
import { outputFromJsonSchema, outputFromSchema } from "../tools/output.ts";
import { clock, ids } from "./clock.ts";
import { isGone, thisProcess } from "./processes.ts";

export interface HostSettings {
  readonly home: string;
  /** Search path for the agents' commands. */
  readonly path: string;
  readonly retries: number;
  readonly upstreamIdleMs: number;
  readonly hibernateAfterMs: number;
}

/** A running Capstan in this process. Close it, or use `await using`, to end the agents it runs. */
export type Host = Runtime & AsyncDisposable;

/** Puts a host together and takes over its parts: closing the host closes them. */
export async function assemble(
  settings: HostSettings,
  { store, upstream }: { store: Store; upstream: Upstream & Partial<AsyncDisposable> },
): Promise<Host> {
  const gateway = await openGateway({ upstream, clock, idleTimeoutMs: settings.upstreamIdleMs });
  const runtime = new Runtime({
    store,
    gateway,
    engine: claudeEngine({ path: settings.path, retries: settings.retries }, { createToolServer }),
    clock,
    ids,
    owner: thisProcess(ids.next("host")),
    isGone,
    stateRoot: join(settings.home, "sessions"),
    hibernateAfterMs: settings.hibernateAfterMs,
    outputs: { fromSchema: outputFromSchema, fromJsonSchema: outputFromJsonSchema },
  });
  return Object.assign(runtime, {
    async [Symbol.asyncDispose]() {
      await runtime.close();
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]?.();
      await store[Symbol.asyncDispose]();
    },
  });
}
