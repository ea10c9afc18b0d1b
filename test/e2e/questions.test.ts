import { describe, expect, test } from "vitest";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, say, toolUse, WHICH_COLOUR } from "../support/scripted-model.ts";

const QUESTIONS = [
  WHICH_COLOUR,
  {
    question: "Which sizes?",
    header: "Sizes",
    multiSelect: true,
    options: [
      { label: "small", description: "fits" },
      { label: "large", description: "fits all" },
    ],
  },
];

const asks = { blocks: [toolUse("AskUserQuestion", { questions: QUESTIONS })] };

describe("a question of the agent", () => {
  test.each(["while its process waits", "after its process is gone"])("is answered %s", async (when) => {
    await using t = await testHost(({ toolResults }) => (toolResults.length === 0 ? asks : say("Thank you.")));
    const session = await t.host.startSession({ agent: agent({ tools: ["AskUserQuestion"] }), cwd: t.cwd });
    const waiting = await session.send("Ask me.").result();
    expect(waiting.stopReason.type).toBe("requires_action");
    const [approval] = await t.host.approvals.list({ status: "pending" });
    expect(approval?.request).toMatchObject({ kind: "question", title: "Which colour?", remember: [] });
    if (when === "after its process is gone") await session.hibernate();

    const answers = { "Which colour?": "something like green", "Which sizes?": "small, large" };
    const notes = { "Which colour?": "but not too dark" };
    const answer = { behavior: "allow", answers, notes, eventId: "sevt_answer" } as const;
    await t.host.approvals.answer(approval?.id ?? "", answer, { by: "me" });
    for await (const event of session.events())
      if (event.type === "session.status_idle" && event.stop_reason.type === "end_turn") break;
    const told = t.model.requests.at(-1)?.toolResults[0];
    expect(told?.isError).toBe(false);
    expect(told?.text).toContain("something like green");
    expect(told?.text).toContain("small, large");
    expect(told?.text).toContain("but not too dark");
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "user.tool_confirmation")).toMatchObject([{ id: "sevt_answer", result: "allow", answers }]);
  });

  test("needs an answer to each of its parts, and to nothing else", async () => {
    await using t = await testHost(({ toolResults }) => (toolResults.length === 0 ? asks : say("Thank you.")));
    const session = await t.host.startSession({ agent: agent({ tools: ["AskUserQuestion"] }), cwd: t.cwd });
    await session.send("Ask me.").result();
    const [approval] = await t.host.approvals.list({ status: "pending" });
    const answer = (answers: Record<string, string>) =>
      t.host.approvals.answer(approval?.id ?? "", { behavior: "allow", answers }, { by: "me" });
    await expect(answer({ "Which colour?": "red" })).rejects.toThrow("An answer is missing to: Which sizes?");
    await expect(answer({ "Which colour?": "red", "Which sizes?": "small", "Why?": "so" })).rejects.toThrow(
      "The agent did not ask: Why?",
    );
    expect(await t.host.approvals.list({ status: "pending" })).toHaveLength(1);
  });
});

test("a plan is approved by a person, and the session then leaves plan mode", async () => {
  await using t = await testHost(({ toolResults, index }) => {
    if (index === 0) return call("ExitPlanMode", { plan: "Write a file." });
    return toolResults.some(({ id }) => id === "toolu_write")
      ? say("Done.")
      : { blocks: [toolUse("Write", { file_path: `${t.cwd}/plan.txt`, content: "made" }, "toolu_write")] };
  });
  const session = await t.host.startSession({
    agent: agent({ tools: ["Write"], permissions: { mode: "plan", allow: ["Write"] } }),
    cwd: t.cwd,
  });
  await session.send("Plan it.").result();
  const [approval] = await t.host.approvals.list({ status: "pending" });
  expect(approval?.request).toMatchObject({ kind: "plan", title: "Leave plan mode and carry out the plan" });
  await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, { by: "me" });
  for await (const event of session.events())
    if (event.type === "session.status_idle" && event.stop_reason.type === "end_turn") break;
  expect(session.mode).toBe("normal");
  const decisions = ofType(await eventsOf(t.host, session.id), "capstan.permission_decided");
  expect(decisions.map(({ tool, decision }) => `${decision} ${tool}`)).toEqual(["allow ExitPlanMode", "allow Write"]);
  // The model is told that it may go on, and not that its call has failed.
  const [approved] = ofType(await eventsOf(t.host, session.id), "agent.tool_result");
  expect(approved).toMatchObject({ outcome: "completed" });
  expect(approved?.is_error).not.toBe(true);
});
