import { join } from "node:path";
import { expect, test } from "vitest";
import { clock, ids } from "../../src/app/clock.ts";
import type { Budget } from "../../src/core/agent/agent-definition.ts";
import type { Crossing } from "../../src/core/money/budget-scopes.ts";
import type { RequestSize } from "../../src/core/money/budget-estimate.ts";
import type { BudgetSettings } from "../../src/core/money/budget-schema.ts";
import type { LimitHit } from "../../src/core/session/session-limits.ts";
import type { GatewaySession, ModelRequestInfo, ModelRequestOutcome } from "../../src/core/ports/gateway.ts";
import { createRedactor } from "../../src/core/redaction/redaction.ts";
import { PRICES } from "../../src/core/money/prices.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { Feed } from "../../src/runtime/log/feed.ts";
import { meter } from "../../src/runtime/engine/meter.ts";
import { SessionLog } from "../../src/runtime/log/session-log.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { sampleOwner, sampleSession } from "../store/samples.ts";
import { ofType, temporaryDirectory } from "../support/host.ts";

const SIZE: RequestSize = { inputTokens: 1_000, maxTokens: undefined, isStream: true, cached: "no", webSearches: 0 };
const REQUEST: ModelRequestInfo = {
  model: "claude-opus-4-8",
  engineAgentId: undefined,
  requestClass: "main",
  size: SIZE,
  billing: "paid",
  toolResults: [],
  said: "",
};
/** 6 000 USD per million requests: 0.006 each. */
const answer = (output: number, more: Partial<ModelRequestOutcome> = {}): ModelRequestOutcome => ({
  isError: false,
  status: 200,
  usage: {
    input_tokens: 1_000,
    output_tokens: output,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  },
  stopReason: "end_turn",
  proven: "all",
  ...more,
});

interface Scene extends AsyncDisposable {
  readonly store: Store;
  readonly log: SessionLog;
  readonly hits: LimitHit[];
  meter(given: {
    budget?: Budget;
    settings?: BudgetSettings;
    ask?: (crossing: Crossing) => Promise<boolean>;
  }): GatewaySession;
}

async function scene(): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const store = stack.use(await openSqliteStore({ path: join(directory.path, "capstan.db"), clock }));
  await store.createSession(sampleSession("sesn_1"));
  const lease = await store.leases.acquire("sesn_1", sampleOwner("host_a"), 60_000);
  const log = await SessionLog.open({
    store,
    sessionId: "sesn_1",
    lease,
    feed: new Feed(),
    clock,
    ids,
    redactor: createRedactor(),
  });
  const hits: LimitHit[] = [];
  const parts = stack.move();
  return {
    store,
    log,
    hits,
    meter: ({ budget = {}, settings = {} }) =>
      meter({
        sessionId: "sesn_1",
        project: "default",
        agent: "reviewer",
        log,
        ledger: store.ledger,
        clock,
        ids,
        fence: log.fence,
        budget: () => budget,
        budgets: { settings: { reserve_output_tokens: 1_000, ...settings }, prices: PRICES },
        models: () => ["claude-opus-4-8"],
        hostTools: ["lookup"],
        onLimit: (hit) => hits.push(hit),
        onRefusal: () => {},
        onExpired: async () => async () => {},
      }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const events = async ({ store }: Scene) => (await store.events("sesn_1")).map(({ event }) => event);

test("requests at once are held apart: together they never pass the limit", async () => {
  await using s = await scene();
  // Each may cost 0.005 in and 0.025 out.
  const metered = s.meter({ budget: { usd: 0.1 } });
  const reservations = await Promise.all(Array.from({ length: 8 }, () => metered.reserve(REQUEST)));
  expect(reservations.filter(({ granted }) => granted)).toHaveLength(3);
  expect(s.hits[0]).toMatchObject({ scope: "session", which: "usd", limit: 0.1, spent: 0 });
  expect(s.hits[0]?.reserved).toBeCloseTo(0.09, 10);
  // What a request did not need is there for others.
  for (const reservation of reservations) if (reservation.granted) await metered.settle(reservation.token, answer(40));
  expect(await metered.reserve(REQUEST)).toMatchObject({ granted: true });
});

test("a share that a person must agree to go beyond is told once, and the request goes on", async () => {
  await using s = await scene();
  const budget = { usd: 1, ask_at: 0.005 };
  const metered = s.meter({ budget });
  const first = await metered.reserve(REQUEST);
  if (first.granted) await metered.settle(first.token, answer(40));
  expect(s.log.state.overspent).toBeUndefined();
  const more = await Promise.all([metered.reserve(REQUEST), metered.reserve(REQUEST), metered.reserve(REQUEST)]);
  expect(more.map(({ granted }) => granted)).toEqual([true, true, true]);
  expect(s.log.state.overspent).toMatchObject({ kind: "ask", scope: "session", which: "usd", limit: 1, at: 0.005 });
  // Another process of the session, later.
  expect(await s.meter({ budget }).reserve(REQUEST)).toMatchObject({ granted: true });
  expect(ofType(await events(s), "capstan.budget_warned")).toMatchObject([{ kind: "ask", at: 0.005 }]);
});

test("a warning is told once for each limit", async () => {
  await using s = await scene();
  const metered = s.meter({
    budget: { usd: 10, tokens: 100_000, warn_at: 0.0001 },
    settings: { project: { usd: 5, warn_at: 0.0001 } },
  });
  for (let request = 0; request < 3; request += 1) {
    const reservation = await metered.reserve(REQUEST);
    if (reservation.granted) await metered.settle(reservation.token, answer(40));
  }
  const warned = ofType(await events(s), "capstan.budget_warned");
  expect(warned.map(({ scope, which }) => `${scope} ${which}`)).toEqual([
    "session usd",
    "session tokens",
    "project usd",
  ]);
});

test("a rehearsal keeps to the session's limits and to no other", async () => {
  await using s = await scene();
  const metered = s.meter({ budget: { usd: 0.05 }, settings: { project: { usd: 0.001 }, day: { tokens: 1 } } });
  const rehearsal = { ...REQUEST, billing: "rehearsal" as const };
  expect(await metered.reserve(REQUEST)).toMatchObject({ granted: false });
  expect(await metered.reserve(rehearsal)).toMatchObject({ granted: true });
  expect(await metered.reserve(rehearsal)).toMatchObject({ granted: false });
  expect(s.hits.map(({ scope }) => scope)).toEqual(["project", "session"]);
});

test("estimates follow what the session's requests turned out to be", async () => {
  await using s = await scene();
  const metered = s.meter({ budget: { tokens: 1_000_000 }, settings: { reserve_output_tokens: 100 } });
  for (let request = 0; request < 6; request += 1) {
    const reservation = await metered.reserve(REQUEST);
    if (reservation.granted) await metered.settle(reservation.token, answer(110 + request));
  }
  const starts = ofType(await events(s), "span.model_request_start").map(({ estimate }) => estimate);
  expect(starts[0]).toMatchObject({ input: 1_000, cache: 0, output: 100 });
  expect(starts[5]).toMatchObject({ input: 1_000, cache: 0, output: 114 });
  // A new process begins with what the ledger knows.
  await s.meter({ budget: { tokens: 1_000_000 } }).reserve({ ...REQUEST, size: { ...SIZE, maxTokens: 12 } });
  expect(ofType(await events(s), "span.model_request_start").at(-1)?.estimate?.output).toBe(12);
});

test("the tools whose results a request reads are told as users write them, each once", async () => {
  await using s = await scene();
  const metered = s.meter({});
  const names = ["Bash", "mcp__capstan__lookup", "mcp__files__list", "Bash"];
  const toolResults = names.map((engineName, index) => ({ callId: `toolu_${index}`, engineName }));
  const reservation = await metered.reserve({ ...REQUEST, toolResults });
  if (reservation.granted) await metered.settle(reservation.token, answer(1));
  expect(ofType(await events(s), "span.model_request_end")).toMatchObject([
    { tools: ["Bash", "lookup", "mcp__files__list"] },
  ]);
});
