import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, say } from "../support/scripted-model.ts";

interface LimitCase {
  readonly which: string;
  readonly budget: AgentInput["budget"];
  /** Model requests that a looping model may make at the most. */
  readonly requests: number;
}

const cases: LimitCase[] = [
  { which: "usd", budget: { usd: 0.01 }, requests: 0 },
  { which: "usd", budget: { usd: 0.15 }, requests: 4 },
  { which: "tokens", budget: { tokens: 500 }, requests: 0 },
  { which: "tokens", budget: { tokens: 12_000 }, requests: 4 },
  { which: "steps", budget: { steps: 3 }, requests: 3 },
];

for (const { which, budget, requests } of cases)
  test(`a model that never stops is stopped by a limit such as ${JSON.stringify(budget)}`, async () => {
    const usage = { input_tokens: 3_000, output_tokens: 1_000 };
    await using t = await testHost(() => ({ ...call("Bash", { command: "true" }), usage }));
    const session = await t.host.startSession({
      agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] }, budget }),
      cwd: t.cwd,
    });
    const result = await session.send("Loop.").result();
    expect(result.stopReason).toEqual({ type: "budget_reached" });
    expect(result.limit).toMatchObject({ which });
    const made = t.model.requests.length;
    expect(made).toBeLessThanOrEqual(requests);
    await sleep(300);
    expect(t.model.requests.length).toBe(made);
    const results = ofType(await eventsOf(t.host, session.id), "agent.tool_result");
    const uses = ofType(await eventsOf(t.host, session.id), "agent.tool_use");
    expect(results.map((event) => event.call_id).toSorted()).toEqual(uses.map((event) => event.call_id).toSorted());
  });

test("a deadline ends a stream and a running tool", async () => {
  await using t = await testHost((request) =>
    request.last.includes("talk") ? say("word ".repeat(2_000), { pace: 10 }) : call("Bash", { command: "sleep 1000" }),
  );
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] }, budget: { deadline_ms: 1_500 } }),
    cwd: t.cwd,
  });
  for (const message of ["talk", "sleep"]) {
    const result = await session.send(message).result();
    expect(result.stopReason).toEqual({ type: "budget_reached" });
    expect(result.limit).toMatchObject({ which: "deadline", limit: 1_500 });
  }
});

test("a call that a deadline stopped is not stored as the user's refusal", async () => {
  await using t = await testHost(() => call("Bash", { command: "sleep 1000" }));
  const session = await t.host.startSession({
    // Long enough for the command to start on a busy machine.
    agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] }, budget: { deadline_ms: 6_000 } }),
    cwd: t.cwd,
  });
  await session.send("sleep").result();
  const [stopped] = ofType(await eventsOf(t.host, session.id), "agent.tool_result");
  expect(stopped?.outcome).toBe("aborted");
  const said = JSON.stringify(stopped?.content);
  expect(said).toContain("The turn reached its deadline of 6 s");
  expect(said).not.toContain("user");
});

test("a subagent cannot spend past the session's limit", async () => {
  const usage = { input_tokens: 6_000, output_tokens: 200 };
  await using t = await testHost((request) =>
    request.agent === "main" && request.index === 0
      ? { ...call("Agent", { description: "loop", subagent_type: "looper", prompt: "loop" }), usage }
      : { ...call("Bash", { command: "true" }), usage },
  );
  const session = await t.host.startSession({
    agent: agent({
      tools: ["Bash"],
      permissions: { allow: ["Bash"] },
      budget: { usd: 0.3 },
      subagents: { looper: { description: "loops", instructions: "Loop." } },
    }),
    cwd: t.cwd,
  });
  const result = await session.send("Go.").result();
  expect(result.stopReason).toEqual({ type: "budget_reached" });
  const made = t.model.requests.length;
  await sleep(300);
  expect(t.model.requests.length).toBe(made);
  let spent = 0;
  for (const event of await eventsOf(t.host, session.id)) {
    if (event.type === "span.model_request_start") expect(spent).toBeLessThan(0.3);
    if (event.type === "span.model_request_end") spent += event.usd ?? 0;
  }
  expect(spent).toBeLessThanOrEqual(0.3);
  expect(result.limit).toMatchObject({ scope: "session", which: "usd", limit: 0.3, spent });
  expect(spent + (result.limit?.needed ?? 0)).toBeGreaterThan(0.3);
});
