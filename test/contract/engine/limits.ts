import { describe, expect, test } from "vitest";
import { ofType, testHost } from "../../support/host.ts";
import { call, say, toolUse } from "../../support/scripted-model.ts";
import { until } from "../../support/until.ts";
import { isRunning, longSleep, type Stage, steps } from "./stage.ts";

export function limits(stage: Stage): void {
  const looper = { tools: ["Bash"], permissions: { allow: ["Bash"] } };

  describe("a budget", () => {
    test("in steps ends a model that never stops, after so many requests", async () => {
      await using t = await testHost(() => call("Bash", { command: "true" }));
      const agent = stage.agent({ ...looper, budget: { steps: 2 } });
      const session = await t.host.startSession({ agent, cwd: t.cwd });
      const result = await session.send("Loop.").result();
      expect(result.stopReason).toEqual({ type: "budget_reached" });
      expect(result.limit).toMatchObject({ which: "steps", limit: 2, spent: 2 });
      expect(t.model.requests).toHaveLength(2);
      const events = await t.host.read(session.id);
      const results = ofType(events, "agent.tool_result").map(({ call_id: id }) => id);
      expect(results.toSorted()).toEqual(
        ofType(events, "agent.tool_use")
          .map(({ call_id: id }) => id)
          .toSorted(),
      );
    });

    test("in USD ends the turn, also when an answer cost more than was reserved, and the next turn is refused", async () => {
      await using t = await testHost(() => say("Dear.", { usage: { output_tokens: 100_000 } }));
      const agent = stage.agent({ budget: { usd: 0.2 } });
      const session = await t.host.startSession({ agent, cwd: t.cwd });
      const result = await session.send("Spend.").result();
      expect(result.stopReason).toEqual({ type: "budget_reached" });
      expect(result.limit).toMatchObject({
        which: "usd",
        limit: 0.2,
        spent: expect.closeTo(result.usd ?? 0, 10) as number,
      });
      expect((await session.send("More.").result()).stopReason).toEqual({ type: "budget_reached" });
      expect(t.model.requests).toHaveLength(1);
    });
  });

  describe("the end of a session", () => {
    test("is the end of all that its commands left running", async () => {
      const sleep = longSleep();
      await using t = await testHost(
        steps({ blocks: [toolUse("Bash", { command: `setsid ${sleep} >/dev/null 2>&1 & echo started` })] }),
      );
      const session = await t.host.startSession({ agent: stage.agent(looper), cwd: t.cwd });
      await session.send("Leave something behind.").result();
      await until(
        () => isRunning(sleep),
        (running) => running,
      );
      await session.close();
      await expect.poll(() => isRunning(sleep)).toBe(false);
    });
  });
}
