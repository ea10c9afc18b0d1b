import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LedgerLine } from "../../src/core/money/ledger.ts";
import { listen } from "../../src/server/listen.ts";
import type { RuntimeMetrics } from "../../src/server/metrics/metrics.ts";
import { TurnMetrics } from "../../src/server/metrics/turn-metrics.ts";
import { agent } from "../support/host.ts";
import { say } from "../support/scripted-model.ts";
import { type TestServer, testServer } from "./base-support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await testServer(() => say("Hello"));
});
afterAll(() => server[Symbol.asyncDispose]());

/** Name and labels → value. */
function figures(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))] as const;
    }),
  );
}

async function read(metrics: RuntimeMetrics, project = "default"): Promise<ReadonlyMap<string, number>> {
  const { secret } = await server.key("viewer", project);
  const { app } = server.app({ metrics });
  await app.request("/health");
  await app.request("/nothing", { method: "FOO", headers: { "x-api-key": secret } });
  const answer = await app.request("/metrics", { headers: { "x-api-key": secret } });
  expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  return figures(await answer.text());
}

test("reports the server's own metrics, and leaves out unknown ones", async () => {
  const told = await read({});
  expect(told.get('capstan_http_requests_total{method="GET",status="200"}')).toBe(1);
  // A method that somebody made up makes no figure of its own.
  expect(told.get('capstan_http_requests_total{method="OTHER",status="404"}')).toBe(1);
  expect(told.get("capstan_streams_open")).toBe(0);
  expect(told.get("capstan_process_resident_bytes")).toBeGreaterThan(1_000_000);
  expect([...told.keys()].some((name) => name.startsWith("capstan_sessions"))).toBe(false);
});

test("reports metrics of the caller's project", async () => {
  const asked: (string | undefined)[] = [];
  const line: LedgerLine = {
    key: 'model "x"\\',
    billing: "paid",
    requests: 2,
    inputTokens: 10,
    outputTokens: 20,
    cacheReadTokens: 30,
    cacheWriteTokens: 40,
    webSearches: 0,
    usd: 0.5,
    unpricedRequests: 0,
    estimatedRequests: 0,
  };
  const told = await read(
    {
      sessionsByStatus: async (project) => {
        asked.push(project);
        return { idle: 3, running: 1 };
      },
      waitingApprovals: async () => ({ count: 2, oldestAt: server.deps.clock.now() - 90_000 }),
      readSpending: async () => [line],
      load: () => ({ sessions: 4, turns: 1, waitingTurns: 5, processes: 3, idleProcesses: 2, processBytes: 1_000 }),
    },
    "/team",
  );
  expect(asked).toEqual(["/team"]);
  const labels = String.raw`model="model \"x\"\\",billing="paid"`;
  expect(Object.fromEntries(told)).toMatchObject({
    'capstan_sessions{status="idle"}': 3,
    'capstan_sessions{status="running"}': 1,
    capstan_approvals_waiting: 2,
    capstan_approvals_oldest_seconds: 90,
    [`capstan_model_requests_total{${labels}}`]: 2,
    [`capstan_tokens_total{${labels},kind="cache_write"}`]: 40,
    [`capstan_cost_usd_total{${labels}}`]: 0.5,
    capstan_turns_waiting: 5,
    capstan_agent_processes: 3,
    capstan_agent_process_bytes: 1_000,
  });
});

test("counts turns and the time to first text from a session's events", async () => {
  let now = 0;
  const turns = new TurnMetrics({ now: () => now });
  const { host, cwd } = server;
  const session = await host.startSession({ agent: agent(), cwd });
  const watching = new AbortController();
  const seen = (async () => {
    for await (const item of host.events(session.id, { signal: watching.signal })) {
      if (item.type !== "user.message") now += 200;
      turns.observe(session.id, item);
      if (item.type === "session.status_idle") watching.abort();
    }
  })();
  await session.send("Hi").result();
  await seen;
  await session.close();
  const told = await read({ turns });
  expect(told.get('capstan_turns_total{stop_reason="end_turn"}')).toBe(1);
  expect(told.get("capstan_first_text_seconds_count")).toBe(1);
  expect(told.get("capstan_first_text_seconds_sum")).toBeGreaterThan(0);
  expect(told.get('capstan_first_text_seconds_bucket{le="60"}')).toBe(1);
  expect(told.get('capstan_first_text_seconds_bucket{le="+Inf"}')).toBe(1);
  expect(told.get('capstan_first_text_seconds_bucket{le="0.1"}')).toBe(0);
});

test("without a key, metrics are readable only if allowed, and only from this machine", async () => {
  const asked: (string | undefined)[] = [];
  const metrics: RuntimeMetrics = {
    async sessionsByStatus(project) {
      asked.push(project);
      await sleep(0);
      return { idle: 1 };
    },
  };
  expect((await server.app({ metrics }).app.request("/metrics")).status).toBe(401);
  const { app } = server.app({ metrics, openMetrics: true });
  // Nobody knows where this one comes from.
  expect((await app.request("/metrics")).status).toBe(401);
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  try {
    const answer = await fetch(`http://127.0.0.1:${listening.port}/metrics`);
    expect(figures(await answer.text()).get('capstan_sessions{status="idle"}')).toBe(1);
    expect(asked).toEqual([undefined]);
  } finally {
    await listening.close();
  }
});
