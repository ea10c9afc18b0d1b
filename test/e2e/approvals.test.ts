import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Approval } from "../../src/core/session/approval.ts";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { killEngine } from "../support/engine-process.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, type ModelRequest, type Reply, say, type Script, toolUse } from "../support/scripted-model.ts";

const bash = (command: string) => toolUse("Bash", { command });
const lines = (cwd: string): string[] => {
  const file = join(cwd, "effects.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").toSorted() : [];
};
/** Calls one after another or together, each of which leaves a line; then it is done. */
const effects =
  (...names: string[]): Script =>
  (request) =>
    request.toolResults.length === 0
      ? { blocks: names.map((name) => bash(`echo ${name} >> effects.txt`)) }
      : say(`I saw ${request.toolResults.map(({ text }) => text).join(" | ")}`);
const pending = (host: Host, count: number): Promise<readonly Approval[]> =>
  until(
    () => host.approvals.list({ status: "pending" }),
    (list) => list.length >= count,
  );

async function until<T>(look: () => Promise<T>, done: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await look();
    if (done(value)) return value;
    await sleep(20);
  }
}

const ME = { by: "me" };

describe("an approval", () => {
  test("is stored before anybody is asked, and ends the turn with requires_action until it is answered", async () => {
    await using t = await testHost(effects("A"));
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    const result = await session.send("Work.").result();

    const [approval] = await t.host.approvals.list();
    expect(approval).toMatchObject({
      status: "pending",
      sessionId: session.id,
      agent: "tester",
      request: {
        kind: "tool",
        tool: "Bash",
        title: "Run echo A >> effects.txt",
        commands: ["echo A"],
        asked_by: "default:ask",
      },
    });
    expect(result.stopReason).toEqual({ type: "requires_action", event_ids: [approval?.request.tool_use_id] });
    expect(lines(t.cwd)).toEqual([]);

    const answered = await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
    await until(
      async () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(answered.answer).toMatchObject({ behavior: "allow", by: "me", from: "library" });
    expect(lines(t.cwd)).toEqual(["A"]);
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "allow", decided_by: "person:me", approval_id: approval?.id },
    ]);
    expect(ofType(events, "user.tool_confirmation")).toMatchObject([{ result: "allow", by: "me" }]);
    expect(ofType(events, "capstan.process_started")).toHaveLength(1);
    expect(session.state.turns).toBe(1);
  });

  test("is answered once: later answers are told which one stands", async () => {
    await using t = await testHost(effects("A"));
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.send("Work.").result();
    const [approval] = await t.host.approvals.list();
    const id = approval?.id ?? "";
    const answers = await Promise.allSettled(
      ["one", "two", "three"].map((by) => t.host.approvals.answer(id, { behavior: "deny", message: by }, { by })),
    );
    const won = answers.filter(({ status }) => status === "fulfilled");
    const lost = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    expect(won).toHaveLength(1);
    expect(lost).toMatchObject([
      { code: "approval_closed", data: { answer: { by: "one" } } },
      { code: "approval_closed", data: { answer: { by: "one" } } },
    ]);
    await until(
      async () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(t.model.requests.at(-1)?.last).toContain("one");
    expect(lines(t.cwd)).toEqual([]);
  });

  test("outlives the host: the answer may come while nobody drives the session", async () => {
    await using t = await testHost(effects("A"));
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.send("Work.").result();
    await session.close();
    const [approval] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
    expect(lines(t.cwd)).toEqual([]);

    await using second = await t.another();
    const resumed = await second.resumeSession(session.id);
    await until(
      async () => resumed.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(lines(t.cwd)).toEqual(["A"]);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ isError: false }]);
  });

  test.each([
    { names: ["A", "B", "C"], deny: "B" },
    { names: ["A", "B"], deny: "A" },
  ])("for several calls of one answer, after the process is gone: $names without $deny", async ({ names, deny }) => {
    await using t = await testHost(effects(...names));
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.send("Work.").result();
    await session.close();
    const resumed = await t.host.resumeSession(session.id);
    for (let answered = 0; answered < names.length; answered += 1) {
      const [approval] = await pending(t.host, 1);
      const behavior = approval?.request.title.includes(`echo ${deny}`) === true ? "deny" : "allow";
      await t.host.approvals.answer(approval?.id ?? "", { behavior }, ME);
    }
    await until(
      async () => resumed.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(lines(t.cwd)).toEqual(names.filter((name) => name !== deny));
    const results = t.model.requests.at(-1)?.toolResults ?? [];
    expect(results.map(({ isError }) => isError)).toEqual(names.map((name) => name === deny));
  });

  test("survives the loss of the agent process", async () => {
    await using t = await testHost(effects("A"));
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"], engine: "claude" }), cwd: t.cwd });
    await session.send("Work.").result();
    await killEngine(t.host, session.id);
    await until(
      () => eventsOf(t.host, session.id),
      (events) => ofType(events, "capstan.process_lost").length > 0,
    );
    const [approval] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
    await until(
      async () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(lines(t.cwd)).toEqual(["A"]);
  });

  test("ends the process that waits, after a while; the answer brings the turn back and the call runs once", async () => {
    await using t = await testHost(
      ({ transcript }) =>
        transcript.includes("effects.txt") ? say("Done.") : { blocks: [bash("echo A >> effects.txt")] },
      { hibernateAfterMs: 300 },
    );
    const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd });
    await session.send("Work.").result();
    await session.send("And tell me about it.").result();
    await until(
      async () => t.host.load().processes,
      (processes) => processes === 0,
    );
    const waiting = await eventsOf(t.host, session.id);
    const [approval] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow" }, ME);
    await until(
      async () => session.state,
      ({ stopReason, undelivered }) => stopReason?.type === "end_turn" && undelivered.length === 0,
    );
    expect(lines(t.cwd)).toEqual(["A"]);
    expect(t.model.requests.at(-1)?.transcript).toContain("And tell me about it.");
    expect(ofType(waiting, "capstan.process_lost")).toEqual([]);
  });

  test("of two subagents, when the host is gone: each goes on where it stood and reports to its agent", async () => {
    await using t = await testHost(twoSubagents);
    const session = await t.host.startSession({
      agent: agent({
        tools: ["Bash"],
        subagents: { helper: { description: "helps", instructions: "You are the HELPER.", tools: ["Bash"] } },
      }),
      cwd: t.cwd,
    });
    const result = await session.send("Work.").result();
    expect(result.stopReason.type).toBe("requires_action");
    await session.close();
    const approvals = await t.host.approvals.list({ status: "pending" });
    expect(approvals.map(({ request }) => request.agent)).toEqual(["helper", "helper"]);

    const resumed = await t.host.resumeSession(session.id);
    for (const { id, request } of approvals)
      await t.host.approvals.answer(id, { behavior: request.title.includes("echo X") ? "allow" : "deny" }, ME);
    await until(
      async () => resumed.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(lines(t.cwd)).toEqual(["X"]);
    const last = t.model.requests.at(-1);
    expect(last?.agent).toBe("main");
    const reports = last?.toolResults.map(({ text }) => text).toSorted();
    expect(reports).toEqual(["Report on X: done", expect.stringContaining("me denied this call")]);
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "session.thread_status_idle")).toHaveLength(2);
    expect(Object.keys(resumed.state.openCalls)).toEqual([]);
  });

  test("for a tool of the host, when the host is gone: the next host runs it once", async () => {
    const ran: string[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays",
      input: z.object({ amount: z.number() }),
      handler: async ({ amount }) => {
        ran.push(`paid ${amount}`);
        return `paid ${amount}`;
      },
    });
    await using t = await testHost((request) =>
      request.toolResults.length === 0 ? call("mcp__capstan__pay", { amount: 5 }) : say("Done."),
    );
    const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [pay] });
    await session.send("Pay.").result();
    await session.close();
    const [approval] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(approval?.id ?? "", { behavior: "allow", input: { amount: 4 } }, ME);
    const resumed = await t.host.resumeSession(session.id, { tools: [pay] });
    await until(
      async () => resumed.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(ran).toEqual(["paid 4"]);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: "paid 4", isError: false }]);
  });
});

function twoSubagents(request: ModelRequest): Reply {
  // A subagent that is driven alone is not named in its requests: its task tells it apart.
  if (firstText(request).includes("Help with")) {
    const name = /Help with (\w)/.exec(request.transcript)?.[1] ?? "?";
    if (request.toolResults.length === 0) return { blocks: [bash(`echo ${name} >> effects.txt`)] };
    const [result] = request.toolResults;
    return say(`Report on ${name}: ${result?.isError === true ? result.text : "done"}`);
  }
  if (request.toolResults.length > 0) return say("All is finished.");
  return {
    blocks: ["X", "Y"].map((name) =>
      toolUse("Agent", { description: "help", subagent_type: "helper", prompt: `Help with ${name}` }),
    ),
  };
}

function firstText(request: ModelRequest): string {
  const content = request.body.messages[0]?.content ?? "";
  return typeof content === "string" ? content : JSON.stringify(content);
}
