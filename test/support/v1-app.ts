import { join } from "node:path";
import Anthropic, { APIError } from "@anthropic-ai/sdk";
import { clock, ids } from "../../src/app/clock.ts";
import type { HostOptions } from "../../src/app/open-host.ts";
import { openStore } from "../../src/app/open-store.ts";
import { SERVER_SETTINGS } from "../../src/app/serve/serve-app.ts";
import type { Role } from "../../src/core/ports/registry.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { createApp } from "../../src/server/app.ts";
import type { ServerDeps, ServerSettings } from "../../src/server/http/context.ts";
import { mintKey } from "../../src/server/http/key-secret.ts";
import { listen } from "../../src/server/listen.ts";
import { Streams } from "../../src/server/stream/streams.ts";
import { v1Routes } from "../../src/server/v1/routes.ts";
import { fileContentsIn } from "../../src/store/disk/file-contents.ts";
import { testHost, type TestHost } from "./host.ts";
import { obedient } from "./obedient-model.ts";
import type { Script } from "./scripted-model.ts";

export interface V1App extends TestHost {
  readonly url: string;
  readonly deps: ServerDeps;
  readonly store: Store;
  /** The official client, with a key of its own. It tries nothing twice. */
  client(role?: Role, project?: string): Promise<Anthropic>;
  /** What the official client would not send. */
  send(path: string, request?: Raw): Promise<RawAnswer>;
}

interface Raw {
  readonly method?: string;
  readonly role?: Role;
  readonly project?: string;
  /** Text as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface RawAnswer {
  readonly status: number;
  readonly message: string;
  readonly code: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

interface V1Options {
  readonly script?: Script;
  readonly host?: HostOptions;
  readonly settings?: Partial<ServerSettings>;
}

/** The real app with real keys, on a port of its own and on a real host; only the model is scripted. */
export async function v1App({ script = obedient, host: options = {}, settings = {} }: V1Options = {}): Promise<V1App> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await testHost(script, options));
  const store = stack.use(await openStore(host.home, host.environment));
  const deps: ServerDeps = {
    runtime: host.host,
    registry: store.registry,
    contents: fileContentsIn(join(host.home, "files")),
    clock,
    ids,
    settings: { ...SERVER_SETTINGS, requestsPerMinute: 100_000, ...settings },
  };
  const streams = new Streams();
  const listening = await listen(createApp(deps, { v1: v1Routes(deps), streams }), { host: "127.0.0.1", port: 0 });
  stack.defer(() => listening.close());
  stack.defer(() => streams.close());
  const url = `http://127.0.0.1:${listening.port}`;
  const keys = new Map<string, string>();
  const keyOf = async (role: Role, project: string): Promise<string> => {
    const known = keys.get(`${role} ${project}`);
    if (known !== undefined) return known;
    const { record, secret } = mintKey({ project, name: `a ${role}`, role }, deps);
    await store.registry.keys.create(record);
    keys.set(`${role} ${project}`, secret);
    return secret;
  };
  const parts = stack.move();
  return {
    ...host,
    url,
    deps,
    store,
    async client(role = "admin", project = "default") {
      return new Anthropic({ baseURL: url, apiKey: await keyOf(role, project), maxRetries: 0, logLevel: "off" });
    },
    async send(path, { method = "POST", role = "admin", project = "default", body, headers = {} } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          "x-api-key": await keyOf(role, project),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const answer = (await response.json()) as { error?: { message?: string; details?: { error_code?: string } } };
      const { message = "", details } = answer.error ?? {};
      return { status: response.status, message, code: details?.error_code, body: { ...answer } };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** What the official client throws for a refusal. */
export async function refusal(promise: PromiseLike<unknown>): Promise<APIError> {
  try {
    await promise;
  } catch (thrown) {
    if (thrown instanceof APIError) return thrown;
    throw thrown;
  }
  throw new Error("It was not refused.");
}
