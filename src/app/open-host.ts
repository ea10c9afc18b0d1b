import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Clock, Ids } from "../core/clock.ts";
import type { Store } from "../core/store.ts";
import { claudeEngine } from "../engines/claude/engine.ts";
import { openGateway } from "../gateway/gateway.ts";
import type { Upstream } from "../gateway/upstream.ts";
import { upstreamFromEnvironment } from "../gateway/upstreams.ts";
import { Runtime } from "../runtime/runtime.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { createToolServer } from "../tools/mcp-bridge.ts";
import { outputFromJsonSchema, outputFromSchema } from "../tools/output.ts";
import { isGone, thisProcess } from "./processes.ts";

export interface HostOptions {
  /** Where sessions are kept. Default: `$CAPSTAN_HOME`, else `~/.capstan`. */
  readonly home?: string;
  /**
   * Where credentials and the model API's address are read from. Default: this process's environment. The agent never
   * sees it.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Use the built-in scripted model instead: no key, no network. */
  readonly rehearsal?: boolean;
  /** How often a failed model request is repeated, with doubling waits. Default 6, about half a minute. */
  readonly retries?: number;
  /** How long the model API may stay silent before a request is given up, in milliseconds. Default: two minutes. */
  readonly upstreamIdleMs?: number;
  /** Idle agent processes are ended after this many milliseconds. Default: ten minutes. */
  readonly hibernateAfterMs?: number;
}

/** A running Capstan in this process. Close it, or use `await using`, to end the agents it runs. */
export type Host = Runtime & AsyncDisposable;

/** Reads the configuration and puts the parts together. The only place that knows the adapters. */
export async function openHost(options: HostOptions = {}): Promise<Host> {
  const environment = options.environment ?? process.env;
  const home = options.home ?? environment["CAPSTAN_HOME"] ?? join(homedir(), ".capstan");
  await using stack = new AsyncDisposableStack();
  const upstream =
    options.rehearsal === true ? stack.use(await rehearsal()) : await upstreamFromEnvironment(environment);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const store: Store = stack.use(await openSqliteStore({ path: join(home, "capstan.db"), clock }));
  const gateway = stack.use(await openGateway({ upstream, clock, idleTimeoutMs: options.upstreamIdleMs ?? 120_000 }));
  const engine = claudeEngine(
    { path: environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin", retries: options.retries ?? 6 },
    { createToolServer },
  );
  const runtime = new Runtime({
    store,
    gateway,
    engine,
    clock,
    ids,
    owner: thisProcess(ids.next("host")),
    isGone,
    stateRoot: join(home, "sessions"),
    hibernateAfterMs: options.hibernateAfterMs ?? 600_000,
    outputs: { fromSchema: outputFromSchema, fromJsonSchema: outputFromJsonSchema },
  });
  const parts = stack.move();
  return Object.assign(runtime, {
    async [Symbol.asyncDispose]() {
      await runtime.close();
      await parts.disposeAsync();
    },
  });
}

/** Loaded only when it is wanted: the scripted model is a server of its own. */
async function rehearsal(): Promise<Upstream & AsyncDisposable> {
  const { openRehearsal } = await import("../gateway/rehearsal.ts");
  return openRehearsal();
}

const clock: Clock = { now: () => Date.now() };

let lastTime = 0;
let counter = 0;

/** UUIDs of version 7: sortable by time, and in order of making within one process. */
const ids: Ids = {
  next(kind) {
    const now = Math.max(Date.now(), lastTime);
    counter = now === lastTime ? counter + 1 : 0;
    lastTime = now;
    const time = now.toString(16).padStart(12, "0");
    const order = (0x7000 | (counter & 0xfff)).toString(16);
    const random = randomBytes(8);
    random[0] = 0x80 | ((random[0] ?? 0) & 0x3f);
    return `${kind}_${time}${order}${random.toString("hex")}`;
  },
};
