import { describe, expect, test } from "vitest";
import { ofType } from "../../support/host.ts";
import { call, say } from "../../support/scripted-model.ts";
import { sharedSession } from "../../support/shared-session.ts";
import type { Stage } from "./stage.ts";

export function limits(stage: Stage): void {
  describe("a budget", () => {
    const shared = sharedSession(() =>
      stage.agent({ tools: ["Bash"], permissions: { allow: ["Bash"] }, budget: { steps: 2, usd: 0.5 } }),
    );

    test("in steps ends a model that never stops, after so many requests, and each call has its result", async () => {
      const { session, events, requests } = await shared(() => call("Bash", { command: "true" }));
      const result = await session.send("Loop.").result();
      expect(result.stopReason).toEqual({ type: "budget_reached" });
      expect(result.limit).toMatchObject({ which: "steps", limit: 2, spent: 2 });
      expect(requests()).toHaveLength(2);
      const uses = ofType(await events(), "agent.tool_use").map(({ call_id: id }) => id);
      expect(ofType(await events(), "agent.tool_result").map(({ call_id: id }) => id)).toEqual(uses);
      expect(uses.length).toBeGreaterThan(0);
    });

    test("in USD ends the turn, also when an answer cost more than was reserved, and the next turn is refused", async () => {
      const { session, requests } = await shared(() => say("Dear.", { usage: { output_tokens: 100_000 } }));
      const result = await session.send("Spend.").result();
      expect(result.stopReason).toEqual({ type: "budget_reached" });
      expect(result.limit).toMatchObject({ which: "usd", limit: 0.5 });
      expect(result.limit?.spent).toBeCloseTo(session.state.usd, 10);
      expect((await session.send("More.").result()).stopReason).toEqual({ type: "budget_reached" });
      expect(requests()).toHaveLength(1);
    });
  });
}
