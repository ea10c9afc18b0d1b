import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Hono } from "hono";
import { join } from "node:path";
import { expect } from "vitest";
import { clock, ids } from "../../src/app/clock.ts";
import { WorkerPool } from "../../src/app/heavy/pool.ts";
import { heavyPorts } from "../../src/app/heavy/ports.ts";
import { openStore } from "../../src/app/open-store.ts";
import { suitePage } from "../../src/app/serve/serve-ports.ts";
import { describeTool, requireKnownTools } from "../../src/app/check/tool-traits.ts";
import type { HostOptions } from "../../src/app/open-host.ts";
import { findProject } from "../../src/config/project/project.ts";
import { type AgentInput, parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import type { Role } from "../../src/core/ports/registry.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { readOutput } from "../../src/runtime/outputs/read-output.ts";
import type { ApiDeps } from "../../src/server/api/deps.ts";
import { apiRoutes } from "../../src/server/api/routes.ts";
import { createApp } from "../../src/server/app.ts";
import type { Env } from "../../src/server/http/context.ts";
import { mintKey } from "../../src/server/http/key-secret.ts";
import { fileContentsIn } from "../../src/store/disk/file-contents.ts";
import { agent, testHost, type TestHost } from "./host.ts";
import { obedient } from "./obedient-model.ts";
import type { Script } from "./scripted-model.ts";

export interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- what a test looks at in an answer, it says itself
  readonly body: any;
  readonly response: Response;
}

/** Somebody with a key: sends requests, and has every answer checked against the document. */
export interface Person {
  readonly key: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  send(method: string, path: string, body?: unknown): Promise<Answer>;
}

export interface ApiApp extends TestHost {
  readonly app: Hono<Env>;
  readonly deps: ApiDeps;
  readonly store: Store;
  /** The project of everybody who does not come from another: the test's directory. */
  readonly project: string;
  as(role: Role, project?: string): Promise<Person>;
}

interface ApiAppOptions {
  readonly script?: Script;
  readonly host?: HostOptions;
  /** The agent of sessions that name none. */
  readonly agent?: Partial<AgentInput>;
  /** In place of the ports that the routes are given. */
  readonly ports?: Partial<ApiDeps>;
}

/** The real app with real keys on a real host; only the model is scripted. */
export async function apiApp(options: ApiAppOptions = {}): Promise<ApiApp> {
  await using stack = new AsyncDisposableStack();
  const host = stack.use(await testHost(options.script ?? obedient, options.host));
  const store = stack.use(await openStore(host.home, host.environment));
  const pool = stack.use(new WorkerPool({ home: host.home, environment: {} }));
  const project = host.cwd;
  const deps: ApiDeps = {
    runtime: host.host,
    registry: store.registry,
    contents: fileContentsIn(join(host.home, "files")),
    clock,
    ids,
    settings: {
      maxBodyBytes: 1_048_576,
      maxUploadBytes: 1_048_576,
      requestsPerMinute: 100_000,
      allowPrivateAddresses: false,
    },
    ledger: store.ledger,
    budgets: { day: { usd: 5, time_zone: "Europe/Berlin" } },
    policy: {
      describeTool,
      requireKnownTools,
      hasSandbox: () => false,
      // Where a person keeps credentials, and a file with one of the host's.
      home: host.cwd,
      capstanHome: host.home,
      secretFiles: [join(host.cwd, ".env")],
    },
    ...heavyPorts(pool),
    models: async () => [{ id: "claude-opus-4-8", display_name: "Opus" }],
    log: store,
    projectOf: (directory) => findProject(directory, { CAPSTAN_HOME: host.home }).id,
    output: (id, call) => readOutput(store, id, call),
    defaults: async () => ({
      agent: parseAgent(agent({ tools: ["Bash", "Read", "Write", "AskUserQuestion"], ...options.agent })),
      environment: parseEnvironment({}),
      directory: host.cwd,
    }),
    suites: { runs: store.suiteRuns, page: suitePage },
    ...options.ports,
  };
  const app = createApp(deps, { root: apiRoutes(deps) });
  const check = await checker(app);
  const parts = stack.move();
  return {
    ...host,
    app,
    deps,
    store,
    project,
    async as(role, its = project) {
      const { record, secret } = mintKey({ project: its, name: `${role}-key`, role }, { clock, ids });
      await store.registry.keys.create(record);
      const send: Person["send"] = async (method, path, body) => {
        const response = await app.request(path, {
          method,
          headers: { "x-api-key": secret, ...(body !== undefined && { "content-type": "application/json" }) },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        const isJson = /^application\/json(?:;|$)/.test(response.headers.get("content-type") ?? "");
        const answer = { status: response.status, body: isJson ? await response.clone().json() : undefined, response };
        check(method, path, answer);
        return answer;
      };
      return { key: secret, send, get: (path) => send("GET", path), post: (path, body) => send("POST", path, body) };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Record<string, unknown> }>>>>;
}

/** Expects of an answer what the server's own document says of it. */
async function checker(app: Hono<Env>): Promise<(method: string, path: string, answer: Answer) => void> {
  const document = (await (await app.request("/openapi.json")).json()) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, "api");
  const routes = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));
  return (method, path, { status, body }) => {
    if (body === undefined) return;
    const [bare = ""] = path.split("?");
    const route = routes.find(({ pattern }) => pattern.test(bare))?.path;
    const responses = document.paths[route ?? ""]?.[method.toLowerCase()]?.responses;
    if (route === undefined || responses === undefined) return;
    const which = String(status) in responses ? String(status) : "default";
    if (which === "default") expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeGreaterThanOrEqual(400);
    const pointer = ["paths", route, method.toLowerCase(), "responses", which, "content", "application/json", "schema"];
    const ref = `api#/${pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")}`;
    const validate = ajv.getSchema(ref);
    expect(validate, ref).toBeDefined();
    const isRight = validate?.(body);
    expect(validate?.errors ?? [], `${method} ${path}`).toEqual([]);
    expect(isRight).toBe(true);
  };
}
