import { join } from "node:path";
import type { Hono } from "hono";
import { ids } from "../../src/app/clock.ts";
import { openStore } from "../../src/app/open-store.ts";
import { SERVER_SETTINGS } from "../../src/app/serve/serve-app.ts";
import type { Role } from "../../src/core/ports/registry.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { type AppParts, createApp } from "../../src/server/app.ts";
import type { Env, Log, ServerDeps, ServerSettings } from "../../src/server/http/context.ts";
import { mintKey } from "../../src/server/http/key-secret.ts";
import { fileContentsIn } from "../../src/store/disk/file-contents.ts";
import { testHost, type TestHost } from "../support/host.ts";
import { obedient } from "../support/obedient-model.ts";
import type { Script } from "../support/scripted-model.ts";

export interface Line {
  readonly level: "info" | "warn" | "error";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface TestServer extends AsyncDisposable, TestHost {
  readonly deps: ServerDeps;
  readonly store: Store;
  /** Moves the server's clock; it stands still otherwise. */
  pass(ms: number): void;
  /** A new key, as clients send it, and its id. */
  key(role?: Role, project?: string): Promise<{ readonly secret: string; readonly id: string }>;
  /** An app on this server's parts, and what it writes to its log. */
  app(parts?: AppParts, settings?: Partial<ServerSettings>): { readonly app: Hono<Env>; readonly lines: Line[] };
}

/** A real host and store, with whatever app a test wants before them. */
export async function testServer(script: Script = obedient): Promise<TestServer> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await testHost(script));
  const store = stack.use(await openStore(host.home, host.environment));
  let now = Date.now();
  const deps: ServerDeps = {
    runtime: host.host,
    registry: store.registry,
    contents: fileContentsIn(join(host.home, "files")),
    clock: { now: () => now },
    ids,
    settings: SERVER_SETTINGS,
  };
  const parts = stack.move();
  return {
    ...host,
    deps,
    store,
    pass: (ms) => (now += ms),
    async key(role = "operator", project = "default") {
      const { record, secret } = mintKey({ project, name: `a ${role}`, role }, deps);
      await store.registry.keys.create(record);
      return { secret, id: record.id };
    },
    app(given = {}, settings = {}) {
      const { log, lines } = listeningLog();
      const all = { ...deps, settings: { ...deps.settings, ...settings } };
      return { app: createApp(all, { log, ...given }), lines };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

function listeningLog(): { readonly log: Log; readonly lines: Line[] } {
  const lines: Line[] = [];
  const at =
    (level: Line["level"]) =>
    (fields: object, text: string): void => {
      lines.push({ level, fields: fields as Line["fields"], text });
    };
  return { log: { info: at("info"), warn: at("warn"), error: at("error") }, lines };
}

export interface Envelope {
  readonly type: string;
  readonly error: { readonly type: string; readonly message: string };
  readonly request_id: string;
}

export async function envelope(answer: Response): Promise<Envelope> {
  return (await answer.json()) as Envelope;
}
