import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { clock, ids } from "../../src/app/clock.ts";
import type { Budget } from "../../src/core/agent/agent-definition.ts";
import type { GatewayAccess } from "../../src/core/ports/gateway.ts";
import { listPrice } from "../../src/core/money/pricing.ts";
import { PRICES } from "../../src/core/money/prices.ts";
import { createRedactor } from "../../src/core/redaction/redaction.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import { httpUpstream } from "../../src/gateway/upstreams/http-upstream.ts";
import { Feed } from "../../src/runtime/log/feed.ts";
import { meter } from "../../src/runtime/engine/meter.ts";
import { SessionLog } from "../../src/runtime/log/session-log.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { sampleOwner, sampleSession } from "../store/samples.ts";
import { temporaryDirectory } from "./host.ts";

export const MODEL = "claude-opus-4-8";
const SESSION = "sesn_1";

/** A model API that bills like the real one: for all it has read and generated, whoever hears of it. */
export interface Provider extends AsyncDisposable {
  readonly url: string;
  /** In USD, at list price. */
  totalBilled(): number;
  readonly requests: number;
  /** Resolves when the next request has been read and billed. */
  next(): Promise<void>;
}

/** What the provider does with a request once it has billed for `output` tokens. */
export type Behaviour = (res: ServerResponse, usage: { readonly input: number; readonly output: number }) => void;

export async function provider(behave: Behaviour, output = 50): Promise<Provider> {
  let usd = 0;
  let requests = 0;
  let waiting = Promise.withResolvers<void>();
  const server = createServer((req, res) => void serve(req, res));
  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    res.on("error", () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    requests += 1;
    const isFree = req.url?.startsWith("/v1/messages/count_tokens") === true;
    const input = Math.ceil(Buffer.concat(chunks).length / 4);
    // A new prompt is written to the cache, which is the dearest that it can be.
    const usage = {
      input_tokens: 0,
      output_tokens: output,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: input,
    };
    if (!isFree) usd += listPrice(MODEL, usage) ?? 0;
    waiting.resolve();
    waiting = Promise.withResolvers();
    behave(res, { input, output });
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    totalBilled: () => usd,
    get requests() {
      return requests;
    },
    next: () => waiting.promise,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface Till extends AsyncDisposable {
  readonly access: GatewayAccess;
  readonly store: Store;
  readonly log: SessionLog;
  /** What the ledger says, in USD. */
  readSpent(): Promise<number>;
}

/** The real gateway, meter and ledger of one session, in front of a provider. */
export async function till(
  url: string,
  { budget = {}, path, leaseMs = 60_000 }: { budget?: Budget; path?: string; leaseMs?: number } = {},
): Promise<Till> {
  await using stack = new AsyncDisposableStack();
  const place = path ?? join(stack.use(temporaryDirectory()).path, "capstan.db");
  const store = stack.use(await openSqliteStore({ path: place, clock }));
  if ((await store.session(SESSION)) === undefined) await store.createSession(sampleSession(SESSION));
  const lease = await store.leases.acquire(SESSION, sampleOwner("host_a"), leaseMs);
  const redactor = createRedactor();
  const log = await SessionLog.open({ store, sessionId: SESSION, lease, feed: new Feed(), clock, ids, redactor });
  const upstream = httpUpstream({ baseUrl: new URL(url), credential: { kind: "api_key", secret: "sk-real" } });
  const gateway = stack.use(await openGateway({ upstream, clock, idleTimeoutMs: 300 }));
  const session = meter({
    sessionId: SESSION,
    project: "default",
    agent: "reviewer",
    log,
    ledger: store.ledger,
    clock,
    ids,
    fence: log.fence,
    budget: () => budget,
    budgets: { settings: { reserve_output_tokens: 100 }, prices: PRICES },
    models: () => [MODEL],
    hostTools: [],
    onLimit: () => {},
    onRefusal: () => {},
    onExpired: async () => async () => {},
  });
  const admitted = await gateway.admit(session);
  // As a session does when it is closed: the end of a request is stored with what comes next.
  const access = {
    ...admitted,
    async close() {
      await admitted.close();
      await log.append([]);
    },
  };
  const parts = stack.move();
  return {
    access,
    store,
    log,
    async readSpent() {
      const lines = await store.ledger.lines({ by: "session" });
      return lines.reduce((sum, { usd }) => sum + usd, 0);
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
