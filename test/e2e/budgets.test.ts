import { join } from "node:path";
import { expect, test } from "vitest";
import type { SessionEvent } from "../../src/core/events/events.ts";
import { listPrice } from "../../src/core/money/pricing.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, say } from "../support/scripted-model.ts";

const looper = agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } });
const USAGE = { input_tokens: 6_000, output_tokens: 200 };

/** How much the requests cost beyond what was reserved for them. */
function shortfall(events: readonly SessionEvent[]): number {
  const starts = new Map(ofType(events, "span.model_request_start").map((start) => [start.id, start]));
  return ofType(events, "span.model_request_end").reduce((sum, end) => {
    const { input = 0, cache = 0, output = 0 } = starts.get(end.model_request_start_id)?.estimate ?? {};
    const reserved = listPrice(end.model, {
      input_tokens: input + cache,
      output_tokens: output,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    });
    return sum + Math.max(0, (end.usd ?? 0) - (reserved ?? 0));
  }, 0);
}

test("ten sessions at once never pass their project's budget by more than their estimates were short", async () => {
  const limit = 1;
  await using t = await testHost(() => ({ ...call("Bash", { command: "true" }), usage: USAGE }), {
    budgets: { project: { usd: limit }, reserve_output_tokens: 400 },
  });
  const sessions = await Promise.all(
    Array.from({ length: 10 }, () => t.host.startSession({ agent: looper, cwd: t.cwd, project: "shared" })),
  );
  const results = await Promise.all(sessions.map((session) => session.send("Loop.").result()));
  for (const { stopReason, limit: reached } of results) {
    expect(stopReason).toEqual({ type: "budget_reached" });
    expect(reached).toMatchObject({ scope: "project", which: "usd", limit });
  }
  const events = (await Promise.all(sessions.map(({ id }) => eventsOf(t.host, id)))).flat();
  const total = ofType(events, "span.model_request_end").reduce((sum, end) => sum + (end.usd ?? 0), 0);
  expect(total).toBeLessThanOrEqual(limit + shortfall(events));
  // It was used up, not given up.
  expect(total).toBeGreaterThan(limit / 2);
  expect(ofType(events, "span.model_request_end")).toHaveLength(t.model.requests.length);
});

test("a limit that has no room for one request refuses it, says why, and the session goes on once it is raised", async () => {
  await using t = await testHost(() => ({ ...say("done"), usage: USAGE }));
  const session = await t.host.startSession({ agent: agent({ budget: { usd: 0.01 } }), cwd: t.cwd });
  const refused = await session.send("Go.").result();
  expect(refused.stopReason).toEqual({ type: "budget_reached" });
  expect(refused.limit).toMatchObject({ scope: "session", which: "usd", limit: 0.01, spent: 0 });
  expect(refused.limit?.needed).toBeGreaterThan(0.01);
  expect(t.model.requests).toEqual([]);
  await session.close();

  const resumed = await t.host.resumeSession(session.id, { budget: { usd: 1 } });
  expect((await resumed.send("Go on.").result()).stopReason).toEqual({ type: "end_turn" });
  expect(resumed.record.agent.budget).toEqual({ usd: 1 });
  await resumed.close();
  // What was raised stays raised, and the log says so.
  const again = await t.host.resumeSession(session.id);
  expect(again.record.agent.budget).toEqual({ usd: 1 });
  expect(ofType(await eventsOf(t.host, session.id), "capstan.budget_changed")).toMatchObject([{ budget: { usd: 1 } }]);
  await expect(t.host.resumeSession(session.id, { budget: { usd: -1 } })).rejects.toMatchObject({
    code: "invalid_agent",
    message: expect.stringContaining("budget.usd") as string,
  });
});

test("a day's budget is shared by agents, is told when most of it is spent, and goes on when it is raised", async () => {
  await using t = await testHost(() => ({ ...say("ok"), usage: { input_tokens: 60_000, output_tokens: 100 } }), {
    budgets: { day: { usd: 0.5, warn_at: 0.5, time_zone: "Europe/Berlin" }, reserve_output_tokens: 100 },
  });
  const [one, two] = await Promise.all(
    ["one", "two"].map((name) => t.host.startSession({ agent: agent({ name }), cwd: t.cwd })),
  );
  await one?.send("Spend.").result();
  expect((await two?.send("Spend.").result())?.stopReason).toEqual({ type: "end_turn" });
  const refused = await one?.send("Spend.").result();
  expect(refused?.limit).toMatchObject({ scope: "day", which: "usd", limit: 0.5 });
  expect(refused?.limit?.spent).toBeCloseTo(0.605, 10);
  await one?.close();

  await using richer = await t.another({ budgets: { day: { usd: 5, warn_at: 0.1 } } });
  const resumed = await richer.resumeSession(one?.id ?? "");
  for (let turn = 0; turn < 2; turn += 1)
    expect((await resumed.send("Spend.").result()).stopReason).toEqual({ type: "end_turn" });
  const warned = ofType(await eventsOf(richer, resumed.id), "capstan.budget_warned");
  expect(warned).toMatchObject([{ kind: "warn", scope: "day", which: "usd", limit: 5, at: 0.1 }]);
});

test("a share that must be asked about is asked before the next tool call, once", async () => {
  await using t = await testHost((request) => ({
    ...(request.toolResults.length > 0 ? say("ok") : call("Bash", { command: "true" })),
    usage: { input_tokens: 30_000, output_tokens: 100 },
  }));
  const spender = agent({ tools: ["Bash"], permissions: { allow: ["Bash"] }, budget: { usd: 2, ask_at: 0.1 } });
  const session = await t.host.startSession({ agent: spender, cwd: t.cwd });
  expect((await session.send("Spend.").result()).stopReason).toEqual({ type: "end_turn" });
  expect((await session.send("Spend.").result()).stopReason.type).toBe("requires_action");
  const [approval] = await t.host.approvals.list();
  expect(approval?.request).toMatchObject({ asked_by: "budget:ask_at", remember: [] });
  expect(approval?.request.reason).toContain("10 % of the session's limit of 2 usd is spent");
  await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, { by: "me" });
  for await (const event of session.events())
    if (event.type === "session.status_idle" && session.state.stopReason?.type === "end_turn") break;
  expect((await session.send("Spend.").result()).stopReason).toEqual({ type: "end_turn" });
  const warned = ofType(await eventsOf(t.host, session.id), "capstan.budget_warned");
  expect(warned).toMatchObject([{ kind: "ask" }, { kind: "ask", agreed_by: "me" }]);
});

test("an agent's turns are counted over its sessions", async () => {
  await using t = await testHost(() => say("ok"), { budgets: { agents: { tester: { turns: 2 } } } });
  for (const stop of ["end_turn", "end_turn", "budget_reached"]) {
    await using session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
    expect((await session.send("Hello.").result()).stopReason.type).toBe(stop);
  }
  await using other = await t.host.startSession({ agent: agent({ name: "other" }), cwd: t.cwd });
  expect((await other.send("Hello.").result()).stopReason.type).toBe("end_turn");
});

test("a project's tool calls are counted over its sessions", async () => {
  await using t = await testHost(
    (request) => (request.toolResults.length > 1 ? say("done") : call("Bash", { command: "true" })),
    { budgets: { project: { tool_calls: 3 } } },
  );
  const reached = [];
  for (let session = 0; session < 3; session += 1) {
    await using looping = await t.host.startSession({ agent: looper, cwd: t.cwd });
    reached.push((await looping.send("Loop.").result()).limit);
    expect(ofType(await eventsOf(t.host, looping.id), "capstan.permission_decided").at(-1)).toMatchObject({
      decision: "deny",
      decided_by: "limit:tool_calls",
    });
  }
  for (const hit of reached) expect(hit).toMatchObject({ scope: "project", which: "tool_calls", limit: 3, spent: 3 });
});

test("a model without a price is refused under a limit in USD, at the start, and runs without one", async () => {
  await using t = await testHost(() => say("ok"), { budgets: { agents: { saver: { usd: 5 } } } });
  const model = "mystery-model-1";
  const saver = agent({ name: "saver", model });
  for (const limited of [saver, agent({ model, budget: { usd: 1 } })])
    await expect(t.host.startSession({ agent: limited, cwd: t.cwd })).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("no known price") as string,
    });
  const free = await t.host.startSession({ agent: agent({ model }), cwd: t.cwd });
  await free.send("Hello.").result();
  expect(free.state).toMatchObject({ usd: 0, unpricedRequests: 1 });
  expect(await t.host.sessions()).toMatchObject([{ unpricedRequests: 1 }]);
  await using priced = await t.another({
    budgets: { agents: { saver: { usd: 5 } } },
    prices: { "mystery-*": { input: 1, output: 2 } },
  });
  const paid = await priced.startSession({ agent: saver, cwd: t.cwd });
  expect((await paid.send("Hello.").result()).usd).toBeGreaterThan(0);
});

test("a request whose end a crash hid is counted at its estimate, and marked so", async () => {
  // Nothing is said to any agent, so that none needs a process.
  const idle = { capacity: { max_idle_processes: 0 } };
  await using t = await testHost(() => say("ok"), idle);
  const { id } = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await t.host.close();
  {
    await using store = await openSqliteStore({ path: join(t.home, "capstan.db"), clock: { now: () => Date.now() } });
    const lease = await store.leases.acquire(id, { hostId: "host_x", pid: 1, hostname: "x" }, 60_000);
    const at = { processed_at: new Date().toISOString() };
    const span = { model: "claude-opus-4-8", request_class: "main", estimate: { input: 1_000, cache: 0, output: 400 } };
    await store.append(id, {
      after: await store.head(id),
      fence: lease.fence,
      events: [{ type: "span.model_request_start", id: "sevt_cut", ...at, ...span, billing: "paid" }],
    });
    await store.leases.release(lease);
  }
  await using host = await t.another(idle);
  const session = await host.resumeSession(id);
  const [end] = ofType(await eventsOf(host, id), "span.model_request_end");
  expect(end).toMatchObject({ model_request_start_id: "sevt_cut", is_error: true, estimated: true, usd: 0.015 });
  expect(session.state.usd).toBeCloseTo(0.015, 10);
  expect(session.state).not.toHaveProperty("openRequests");
});
