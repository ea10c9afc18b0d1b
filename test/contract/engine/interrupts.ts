import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ofType } from "../../support/host.ts";
import { type ModelRequest, type Reply, say, toolUse } from "../../support/scripted-model.ts";
import { until } from "../../support/until.ts";
import type { Desks } from "./desks.ts";
import { callsIn, collect, countIn, isRunning, longSleep, nameIn, type Stage, steps, waiting } from "./stage.ts";

const holds = (request: ModelRequest): Reply => ({ blocks: [toolUse(nameIn(request, "hold"), {})] });

export function interrupts(_stage: Stage, { worker: shared, hold }: Desks): void {
  describe("an interrupt", () => {
    test("before the first byte ends the turn, and the next request holds both messages", async () => {
      const asked = Promise.withResolvers<void>();
      const never = Promise.withResolvers<void>();
      const { session, events, requests } = await shared(
        steps(() => {
          asked.resolve();
          return say("too late", { delay: never.promise });
        }, say("next answer")),
      );
      const turn = session.send("Say nothing yet.");
      await asked.promise;
      await session.interrupt();
      expect((await turn.result()).stopReason).toEqual({ type: "end_turn" });
      // The gateway reports the end of the request by itself: it may come after the end of the turn.
      const types = (await events()).map(({ type }) => type).filter((type) => !type.startsWith("span."));
      expect(types.indexOf("user.interrupt")).toBeGreaterThan(0);
      expect(types.at(-1)).toBe("session.status_idle");
      expect(types).not.toContain("agent.message");
      expect(types).not.toContain("session.error");
      expect((await session.send("And now?").result()).text).toBe("next answer");
      expect(countIn(requests().at(-1) ?? { transcript: "" }, "Say nothing yet.")).toBe(1);
      never.resolve();
    });

    test("in the middle of a text keeps what was said, and the model sees it next time", async () => {
      const { session, requests } = await shared(steps(say("word ".repeat(400), { pace: 10 }), say("next answer")));
      const turn = session.send("Say something long.");
      let interrupted: Promise<void> | undefined;
      await collect(turn, (item) => {
        if (item.type === "event_delta") interrupted ??= session.interrupt();
      });
      await interrupted;
      const result = await turn.result();
      expect(result.stopReason).toEqual({ type: "end_turn" });
      expect(result.text).toMatch(/^(word )+$/);
      expect((await session.send("And now?").result()).text).toBe("next answer");
      expect(requests().at(-1)?.transcript).toContain(result.text.trim());
    });

    test("while a command runs ends it with one outcome, aborted, and leaves no process", async () => {
      const sleep = longSleep();
      const { t, session, events, requests } = await shared(
        steps({ blocks: [toolUse("Bash", { command: `${sleep}; echo late > late` })] }, say("fine")),
      );
      const turn = session.send("sleep");
      await until(
        () => isRunning(sleep),
        (running) => running,
      );
      await session.interrupt();
      expect((await turn.result()).stopReason).toEqual({ type: "end_turn" });
      const results = ofType(await events(), "agent.tool_result");
      expect(results).toMatchObject([{ outcome: "aborted", is_error: true }]);
      await expect.poll(() => isRunning(sleep)).toBe(false);
      expect((await session.send("Continue.").result()).text).toBe("fine");
      expect(callsIn(requests().at(-1)).results.map(({ id }) => id)).toContain(results[0]?.call_id);
      expect(existsSync(join(t.cwd, "late"))).toBe(false);
    });

    test("while a tool of the host runs reaches its signal", async () => {
      hold.reset();
      const { session, events } = await shared(steps(holds, say("fine")));
      const turn = session.send("Hold.");
      await hold.entered.promise;
      await session.interrupt();
      expect((await turn.result()).stopReason).toEqual({ type: "end_turn" });
      expect(hold.aborted).toBe(true);
      expect(ofType(await events(), "agent.tool_result")).toMatchObject([{ outcome: "aborted" }]);
      expect((await session.send("Continue.").result()).text).toBe("fine");
    });

    test("while an approval waits closes it, and the call never runs", async () => {
      const { t, session, events, requests } = await shared(
        steps({ blocks: [toolUse("Bash", { command: "touch asked" })] }, say("fine")),
      );
      expect((await session.send("Touch it.").result()).stopReason.type).toBe("requires_action");
      const [approval] = await waiting(t.host, session);
      await session.interrupt();
      expect(session.state).toMatchObject({ status: "idle", stopReason: { type: "end_turn" }, openCalls: {} });
      const late = t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, { by: "me" });
      await expect(late).rejects.toMatchObject({ code: "approval_closed" });
      const [result, ...others] = ofType(await events(), "agent.tool_result");
      expect(others).toEqual([]);
      expect(["denied", "aborted"]).toContain(result?.outcome);
      expect((await session.send("Continue.").result()).text).toBe("fine");
      expect(callsIn(requests().at(-1)).results.map(({ id }) => id)).toContain(result?.call_id);
      expect(existsSync(join(t.cwd, "asked"))).toBe(false);
    });
  });

  describe("a message sent while the agent works", () => {
    test("is in the next request that the model sees, once, and in the turn under way", async () => {
      hold.reset();
      const { session, events, requests } = await shared(steps(holds, say("I saw both."), say("I saw both.")));
      const first = session.send("Begin to hold.");
      await hold.entered.promise;
      const more = ["Also do this.", "And that."].map((message) => session.send(message));
      await until(
        async () => ofType(await events(), "user.message"),
        (messages) => messages.length === 3,
      );
      hold.released.resolve();
      for (const turn of [first, ...more]) expect((await turn.result()).stopReason).toEqual({ type: "end_turn" });
      const [, next] = requests();
      const last = requests().at(-1) ?? { transcript: "" };
      expect(next?.transcript).toContain("Also do this.");
      for (const message of ["Begin to hold.", "Also do this.", "And that."]) expect(countIn(last, message)).toBe(1);
      expect(last.transcript.indexOf("Also do this.")).toBeLessThan(last.transcript.indexOf("And that."));
      const sent = ofType(await events(), "user.message").map(({ id }) => id);
      const delivered = ofType(await events(), "capstan.input_delivered").flatMap(({ event_ids: ids }) => ids);
      expect(delivered).toEqual(sent);
      expect(ofType(await events(), "session.status_idle")).toHaveLength(1);
    });

    test("while it writes its last text still gets an answer", async () => {
      const asked = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      const { session, events, requests } = await shared(
        steps(() => {
          asked.resolve();
          return say("first answer", { delay: go.promise });
        }, say("second answer")),
      );
      const first = session.send("One question.");
      await asked.promise;
      const second = session.send("Another question.");
      await until(
        async () => ofType(await events(), "user.message"),
        (messages) => messages.length === 2,
      );
      go.resolve();
      await Promise.all([first.result(), second.result()]);
      expect(requests()).toHaveLength(2);
      expect(requests().map((request) => countIn(request, "Another question."))).toEqual([0, 1]);
      const said = ofType(await events(), "agent.message").flatMap(({ content }) => content);
      expect(said).toMatchObject([{ text: "first answer" }, { text: "second answer" }]);
    });
  });
}
