import { join } from "node:path";
import { expect, test } from "vitest";
import type { EventOf } from "../../src/core/events/events.ts";
import type { Grouping, LedgerLine } from "../../src/core/money/ledger.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, type ModelRequest, type Reply, say, toolUse } from "../support/scripted-model.ts";

const crew = agent({
  tools: ["Bash"],
  permissions: { allow: ["Bash"] },
  subagents: {
    worker: { description: "works", instructions: "You are WORKER.", model: "claude-haiku-4-5", tools: ["Bash"] },
  },
});

/** A first turn with two subagents, one that is interrupted, and plain ones. */
function script(request: ModelRequest): Reply {
  const usage = {
    input_tokens: 1_000 + request.index,
    output_tokens: 50 + request.index,
    cache_read_input_tokens: 7_000,
    cache_creation_input_tokens: 300,
  };
  if (request.agent === "main" && request.last.includes("slowly"))
    return { ...say("word ".repeat(4_000), { pace: 5 }), usage };
  if (request.toolResults.length > 0) return { ...say("done"), usage };
  if (request.agent === "main" && request.last.includes("review")) {
    const task = { subagent_type: "worker", prompt: "do it" };
    return {
      blocks: [toolUse("Agent", { description: "one", ...task }), toolUse("Agent", { description: "two", ...task })],
      usage,
    };
  }
  if (request.agent !== "main") return { ...call("Bash", { command: "true" }), usage };
  return { ...say("ok"), usage };
}

function countedByEngine(told: readonly (EventOf<"session.usage"> | undefined)[]): {
  input: number;
  output: number;
  usd: number;
} {
  const sum = { input: 0, output: 0, usd: 0 };
  for (const event of told)
    for (const part of Object.values(event?.usage.engine ?? {})) {
      sum.input += part.input_tokens;
      sum.output += part.output_tokens;
      sum.usd += part.usd;
    }
  return sum;
}

test("the ledger's tokens and USD are those the engine counts, but for what it does not count", async () => {
  await using t = await testHost(script);
  const session = await t.host.startSession({ agent: crew, cwd: t.cwd, project: "p" });
  await session.send("review").result();
  const interrupted = session.send("talk slowly");
  for await (const item of interrupted) if (item.type === "event_delta") break;
  await session.interrupt();
  await session.send("hello").result();
  await session.close();
  const resumed = await t.host.resumeSession(session.id);
  await resumed.send("hello again").result();
  await resumed.close();

  const events = await eventsOf(t.host, session.id);
  const ends = ofType(events, "span.model_request_end");
  const [first, stopped, ...others] = ofType(events, "session.usage");
  const engine = countedByEngine([first, ...others]);
  // An interrupted request was paid for, and is in the ledger, estimated; the engine counts no more of it than it heard.
  const cut = ends.filter(({ estimated }) => estimated);
  expect(cut).toHaveLength(1);
  const heard = countedByEngine([stopped]);
  expect(heard.output).toBeLessThanOrEqual(cut[0]?.model_usage.output_tokens ?? 0);
  expect(heard.usd).toBeLessThanOrEqual(cut[0]?.usd ?? 0);
  const counted = ends.filter(({ estimated }) => !estimated);
  const sum = (of: (end: (typeof ends)[number]) => number): number =>
    counted.reduce((total, end) => total + of(end), 0);
  expect(engine.output).toBe(sum(({ model_usage: usage }) => usage.output_tokens));
  expect(engine.input).toBe(
    sum(
      ({ model_usage: usage }) =>
        usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens,
    ),
  );
  expect(engine.usd).toBeCloseTo(
    sum(({ usd }) => usd ?? 0),
    10,
  );

  await using store = await openSqliteStore({ path: join(t.home, "capstan.db"), clock: { now: () => Date.now() } });
  const lines = (by: Grouping): Promise<readonly LedgerLine[]> => store.ledger.lines({ by });
  const [whole] = await lines("session");
  expect(whole).toMatchObject({ key: session.id, billing: "paid", requests: ends.length, estimatedRequests: 1 });
  expect(whole?.usd).toBeCloseTo(engine.usd + (cut[0]?.usd ?? 0), 10);
  expect((await lines("model")).map(({ key }) => key).toSorted()).toEqual(["claude-haiku-4-5", "claude-opus-4-8"]);
  const threads = (await lines("thread")).map(({ key }) => key);
  expect(threads).toHaveLength(3);
  expect(threads).toContain("(primary)");
  const tools = Object.fromEntries((await lines("tool")).map((line) => [line.key, line.requests]));
  // Two subagents read one result of Bash each; the agent read those of both subagents in one request.
  expect(tools).toEqual({ Bash: 2, Agent: 1, "(message)": ends.length - 3 });
});

test("rehearsals are kept apart in the ledger and in lists", async () => {
  await using t = await testHost(() => say("ok"), { rehearsal: true });
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.send("hello").result();
  const [summary] = await t.host.sessions();
  expect(summary?.rehearsalUsd).toBe(summary?.usd);
  expect(summary?.usd).toBeGreaterThan(0);
  await using store = await openSqliteStore({ path: join(t.home, "capstan.db"), clock: { now: () => Date.now() } });
  expect((await store.ledger.lines({ by: "agent" })).map(({ billing }) => billing)).toEqual(["rehearsal"]);
});

test("cache writes of an hour and web searches cost what the engine says they do", async () => {
  await using t = await testHost(() => ({
    ...say("ok"),
    usage: {
      input_tokens: 100,
      output_tokens: 10,
      cache_creation_input_tokens: 3_000,
      cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 2_000 },
      server_tool_use: { web_search_requests: 3 },
    } as Reply["usage"] & object,
  }));
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  const { usd, usage } = await session.send("hello").result();
  expect(usage).toMatchObject({ cache_creation_1h_input_tokens: 2_000, web_search_requests: 3 });
  const [told] = ofType(await eventsOf(t.host, session.id), "session.usage");
  expect(told?.usage.cache_creation).toEqual({ ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 2_000 });
  const engine = Object.values(told?.usage.engine ?? {}).reduce((sum, part) => sum + part.usd, 0);
  expect(usd).toBeCloseTo(engine, 10);
});
