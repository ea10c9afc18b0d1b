import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ApprovalAnswer } from "../../../src/core/session/approval.ts";
import { ofType, testHost } from "../../support/host.ts";
import { type Reply, say, toolUse, WHICH_COLOUR } from "../../support/scripted-model.ts";
import { until } from "../../support/until.ts";
import { type Desks, LOOKUP } from "./desks.ts";
import { waitUntilEnded, nameIn, type Stage, steps, waiting } from "./stage.ts";

export const ME = { by: "me" };
export const given = (text: string, isError = false): ApprovalAnswer => ({
  behavior: "allow",
  result: { content: [{ type: "text", text }], isError },
});

const bash = (command: string, id?: string) => toolUse("Bash", { command }, id);
const runs = (...commands: readonly string[]): Reply => ({ blocks: commands.map((command) => bash(command)) });

/** What people, clients and hooks decide about calls. */
export function people(stage: Stage, { asking: shared, hook }: Desks): void {
  describe("an approval", () => {
    test("is stored before anybody is asked, and its call runs once, in the same process, when it is allowed", async () => {
      const { t, session, events, requests } = await shared(steps(runs("echo ran >> allowed.txt"), say("done")));
      const { stopReason } = await session.send("Work.").result();
      const [approval] = await waiting(t.host, session);
      const [use] = ofType(await events(), "agent.tool_use");
      expect(stopReason).toEqual({ type: "requires_action", event_ids: [use?.id] });
      expect(approval?.request).toMatchObject({ kind: "tool", tool: "Bash", tool_use_id: use?.id });
      expect(existsSync(join(t.cwd, "allowed.txt"))).toBe(false);
      expect(requests()).toHaveLength(1);
      await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
      await waitUntilEnded(session);
      expect(readFileSync(join(t.cwd, "allowed.txt"), "utf8")).toBe("ran\n");
      expect(ofType(await events(), "agent.tool_result")).toMatchObject([{ outcome: "completed" }]);
      expect(requests()[1]?.toolResults).toMatchObject([{ isError: false }]);
    });

    test("that is denied tells the model why, and the turn continues", async () => {
      const { t, session, events, requests } = await shared(steps(runs("touch denied"), say("I understand.")));
      await session.send("Work.").result();
      const [approval] = await waiting(t.host, session);
      await t.host.approvals.answer(approval?.id ?? "", { behavior: "deny", message: "not on a Sunday" }, ME);
      await waitUntilEnded(session);
      expect(existsSync(join(t.cwd, "denied"))).toBe(false);
      expect(ofType(await events(), "agent.tool_result")).toMatchObject([{ outcome: "denied", is_error: true }]);
      expect(requests()[1]?.toolResults).toMatchObject([
        { isError: true, text: expect.stringContaining("not on a Sunday") },
      ]);
      expect(ofType(await events(), "agent.message")).toMatchObject([{ content: [{ text: "I understand." }] }]);
    });

    test("with an edited input runs what the person wrote; the log keeps what the model asked for", async () => {
      const { t, session, events } = await shared(steps(runs("echo model > edited.txt")));
      await session.send("Work.").result();
      const [approval] = await waiting(t.host, session);
      const input = { command: "echo person > edited.txt" };
      await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow", input }, ME);
      await waitUntilEnded(session);
      expect(readFileSync(join(t.cwd, "edited.txt"), "utf8")).toBe("person\n");
      expect(ofType(await events(), "agent.tool_use")).toMatchObject([
        { input: { command: "echo model > edited.txt" } },
      ]);
      expect(ofType(await events(), "capstan.permission_decided")).toMatchObject([{ decision: "allow", input }]);
    });

    test("of one of several calls is answered by itself, in any order", async () => {
      const { t, session, events, requests } = await shared(steps(runs("echo one >> two.txt", "echo two >> two.txt")));
      await session.send("Work.").result();
      for (const behavior of ["deny", "allow"] as const) {
        const list = await waiting(t.host, session);
        await t.host.approvals.answer(list.at(-1)?.id ?? "", { behavior }, ME);
        await until(
          () => t.host.approvals.list({ status: "pending", sessionId: session.id }),
          (left) => left.every(({ id }) => id !== list.at(-1)?.id),
        );
      }
      await waitUntilEnded(session);
      const outcomes = ofType(await events(), "agent.tool_result").map(({ outcome }) => outcome);
      expect(outcomes.toSorted()).toEqual(["completed", "denied"]);
      expect(readFileSync(join(t.cwd, "two.txt"), "utf8")).toMatch(/^(?:one|two)\n$/);
      expect(requests()).toHaveLength(2);
      expect(
        requests()[1]
          ?.toolResults.map(({ isError }) => isError)
          .toSorted(),
      ).toEqual([false, true]);
    });
  });

  describe("a hook before a call", () => {
    test("changes the input that rules and people see, and that runs", async () => {
      const { t, session, events } = await shared(steps(runs("echo model > hooked.txt")));
      hook.beforeTool = ({ input }) => ({ input: { ...input, command: "echo hook > hooked.txt" } });
      await session.send("Work.").result();
      const [approval] = await waiting(t.host, session);
      expect(approval?.request.input).toMatchObject({ command: "echo hook > hooked.txt" });
      await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
      await waitUntilEnded(session);
      hook.beforeTool = () => undefined;
      expect(readFileSync(join(t.cwd, "hooked.txt"), "utf8")).toBe("hook\n");
      expect(ofType(await events(), "agent.tool_use")).toMatchObject([
        { input: { command: "echo model > hooked.txt" } },
      ]);
    });

    test("denies it, and the model is told why", async () => {
      const { session, events, requests } = await shared(steps(runs("touch never")));
      hook.beforeTool = () => ({ deny: "the hook says no" });
      await session.send("Work.").result();
      hook.beforeTool = () => undefined;
      expect(ofType(await events(), "agent.tool_result")).toMatchObject([{ outcome: "denied" }]);
      expect(requests()[1]?.toolResults).toMatchObject([
        { isError: true, text: expect.stringContaining("the hook says no") },
      ]);
    });
  });

  stage.capability(
    "questions",
    () =>
      test("are asked, and the answers are the call's result", async () => {
        const { t, session, requests } = await shared(
          steps({ blocks: [toolUse("AskUserQuestion", { questions: [WHICH_COLOUR] })] }, say("Thank you.")),
        );
        expect((await session.send("Ask me.").result()).stopReason.type).toBe("requires_action");
        const [approval] = await waiting(t.host, session);
        expect(approval?.request).toMatchObject({ kind: "question", title: "Which colour?" });
        const answers = { "Which colour?": "something like green" };
        await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow", answers }, ME);
        await waitUntilEnded(session);
        expect(requests()[1]?.toolResults).toMatchObject([
          { isError: false, text: expect.stringContaining("something like green") },
        ]);
      }),
    stage.expectRefusal({ agent: { tools: ["AskUserQuestion"] } }),
  );

  stage.capability(
    "custom_tools",
    () =>
      test("wait for the client, whose result or error is what the model is told", async () => {
        const { t, session, events, requests } = await shared(
          steps(
            (request) => ({
              blocks: ["a", "b"].map((key) => toolUse(nameIn(request, "lookup"), { key }, `toolu_${key}`)),
            }),
            say("I see."),
          ),
        );
        const { stopReason } = await session.send("Look up.").result();
        const uses = ofType(await events(), "agent.custom_tool_use");
        expect(uses).toMatchObject([
          { name: "lookup", input: { key: "a" }, call_id: "toolu_a" },
          { name: "lookup", input: { key: "b" }, call_id: "toolu_b" },
        ]);
        expect(stopReason).toEqual({ type: "requires_action", event_ids: uses.map(({ id }) => id) });
        for (const { id, request } of await waiting(t.host, session, 2))
          await t.host.approvals.answer(
            id,
            request.input["key"] === "a" ? given("blue") : given("no such key", true),
            ME,
          );
        await waitUntilEnded(session);
        const told = Object.fromEntries(requests()[1]?.toolResults.map(({ id, ...rest }) => [id, rest]) ?? []);
        expect(told).toEqual({
          toolu_a: { text: "blue", isError: false },
          toolu_b: { text: "no such key", isError: true },
        });
        const outcomes = ofType(await events(), "user.custom_tool_result").map(({ outcome = "" }) => outcome);
        expect(outcomes.toSorted()).toEqual(["completed", "failed"]);
        expect(ofType(await events(), "agent.tool_result")).toEqual([]);
      }),
    stage.expectRefusal({ agent: { custom_tools: [{ ...LOOKUP }] } }),
  );

  stage.capability(
    "plan_mode",
    () =>
      test("changes nothing until a person has approved the plan, and then ends", async () => {
        await using t = await testHost(
          steps(
            { blocks: [toolUse("Bash", { command: "touch early" })] },
            { blocks: [toolUse("ExitPlanMode", { plan: "Write a file." })] },
            { blocks: [toolUse("Bash", { command: "touch planned" })] },
            say("Done."),
          ),
        );
        const session = await t.host.startSession({
          agent: stage.agent({ tools: ["Bash"], permissions: { mode: "plan", allow: ["Bash"] } }),
          cwd: t.cwd,
        });
        await session.send("Plan it.").result();
        const [approval] = await waiting(t.host, session);
        expect(approval?.request).toMatchObject({ kind: "plan" });
        expect(t.model.requests[0]?.body.tools?.map(({ name }) => name)).toContain("ExitPlanMode");
        await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
        await waitUntilEnded(session);
        expect(session.mode).toBe("normal");
        const results = ofType(await t.host.read(session.id), "agent.tool_result");
        expect(results.map(({ outcome }) => outcome)).toEqual(["denied", "completed", "completed"]);
        expect([existsSync(join(t.cwd, "early")), existsSync(join(t.cwd, "planned"))]).toEqual([false, true]);
      }),
    stage.expectRefusal({ agent: { permissions: { mode: "plan" } } }),
  );
}
