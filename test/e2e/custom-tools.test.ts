import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import type { Approval, ApprovalAnswer } from "../../src/core/session/approval.ts";
import type { ToolContent } from "../../src/core/events/content.ts";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import type { Session } from "../../src/runtime/session.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { FASTER } from "../support/cli.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { type ModelRequest, type Reply, say, type Script, toolUse } from "../support/scripted-model.ts";
import { sharedSession } from "../support/shared-session.ts";
import { until } from "../support/until.ts";

const ME = { by: "me" };
const lookup = (key: string) => toolUse("mcp__capstan__lookup", { key });
const clerk = (more: Partial<AgentInput> = {}): AgentInput =>
  agent({
    custom_tools: [
      {
        name: "lookup",
        description: "Looks a key up.",
        input_schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
      },
    ],
    ...more,
  });
/** Looks these keys up together, and says what it was told. */
const looksUp =
  (...keys: string[]): Script =>
  (request) => {
    if (request.last.includes("again")) return say("hello again");
    return request.toolResults.length === 0
      ? { blocks: keys.map(lookup) }
      : say(`I saw ${request.toolResults.map(({ text }) => text).join(" | ")}`);
  };

const given = (text: string, isError = false): ApprovalAnswer => ({
  behavior: "allow",
  result: { content: [{ type: "text", text }], isError },
});
const waiting = async (host: Host): Promise<readonly Approval[]> => host.approvals.list({ status: "pending" });
const onlyOne = async (host: Host): Promise<Approval> => {
  const [approval, ...others] = await waiting(host);
  if (approval === undefined || others.length > 0) throw new Error(`${others.length + 1} approvals are waiting.`);
  return approval;
};
const finished = (session: Session) =>
  until(
    () => session.state,
    (state) => state.status === "idle" && state.stopReason?.type === "end_turn",
  );

const client = sharedSession(() => clerk());

describe("a call of a custom tool", () => {
  test("waits for its client, whose result is told to the model and stored under the id it was given", async () => {
    await using t = await testHost(looksUp("a"));
    const session = await t.host.startSession({ agent: clerk(), cwd: t.cwd });
    const { stopReason } = await session.send("Work.").result();
    const [made] = ofType(await eventsOf(t.host, session.id), "agent.custom_tool_use");
    expect(made).toMatchObject({ name: "lookup", input: { key: "a" } });
    expect(stopReason).toEqual({ type: "requires_action", event_ids: [made?.id] });
    const { id, request } = await onlyOne(t.host);
    expect(request).toMatchObject({ kind: "custom_tool", tool: "lookup", tool_use_id: made?.id, remember: [] });

    await t.host.approvals.answer(id, { ...given("blue"), eventId: "sevt_given" }, { by: "shop", from: "api" });
    await finished(session);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: "blue", isError: false }]);
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "user.custom_tool_result")).toMatchObject([
      {
        id: "sevt_given",
        custom_tool_use_id: made?.id,
        content: [{ type: "text", text: "blue" }],
        is_error: false,
        outcome: "completed",
        by: "shop",
        from: "api",
      },
    ]);
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([
      { decision: "allow", decided_by: "person:shop", approval_id: id },
    ]);
    for (const type of ["user.tool_confirmation", "agent.tool_result", "agent.tool_use"] as const)
      expect(ofType(events, type)).toEqual([]);
    expect(session.state).toMatchObject({ openCalls: {}, toolCalls: 1, turns: 1 });
    // The log has the result from now on; nothing keeps it without redaction.
    const settled = await t.host.approvals.get(id);
    expect(settled).toMatchObject({ status: "settled", answer: { by: "shop" } });
    expect(settled.answer?.result).toBeUndefined();
  });

  test("needs no process while it waits, and is answered hours later", async () => {
    await using t = await testHost(looksUp("a"));
    const session = await t.host.startSession({ agent: clerk(), cwd: t.cwd });
    await session.send("Work.").result();
    await session.close();
    await using second = await t.another();
    const { id } = await onlyOne(second);
    await second.approvals.answer(id, given("blue"), ME);
    const resumed = await second.resumeSession(session.id);
    await finished(resumed);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: "blue", isError: false }]);
    expect(t.model.requests).toHaveLength(2);
  });

  test.each(["before", "after"])("survives the death of its host %s its result came", async (when) => {
    const { promise: killed, resolve: kill } = Promise.withResolvers<void>();
    await using t = await testHost(async (request) => {
      // The model has not spoken when its host dies.
      if (request.toolResults.length > 0) await killed;
      return looksUp("a")(request);
    });
    const child = fork(join(import.meta.dirname, "../support/waiting-host.ts"), [], {
      stdio: "inherit",
      env: { ...process.env, ...FASTER },
    });
    const { home, cwd, environment } = t;
    child.send({ home, cwd, environment: { ...environment }, agent: clerk(), message: "Work." });
    const [sessionId] = (await once(child, "message")) as [string];
    await until(
      () => waiting(t.host),
      (approvals) => approvals.length > 0,
    );
    const { id } = await onlyOne(t.host);
    const answer = () => t.host.approvals.answer(id, given("blue"), ME);
    if (when === "after") {
      await answer();
      await until(
        () => t.model.requests.length,
        (count) => count === 2,
      );
    }
    child.kill("SIGKILL");
    await once(child, "exit");
    kill();

    const session = await t.host.resumeSession(sessionId, { onCrash: "continue" });
    if (when === "before") {
      expect((await onlyOne(t.host)).id).toBe(id);
      await answer();
    }
    await finished(session);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: "blue", isError: false }]);
    expect(ofType(await eventsOf(t.host, sessionId), "user.custom_tool_result")).toHaveLength(1);
    expect(await t.host.verify(sessionId)).toMatchObject({ ok: true });
  });

  test.each(["while its process waits", "after its process is gone"])(
    "beside another is asked for with it, and answered by itself %s",
    async (when) => {
      const { t, session, events, requests } = await client(looksUp("a", "b"));
      const { stopReason } = await session.send("Work.").result();
      const [one, two] = await waiting(t.host);
      expect(stopReason).toEqual({
        type: "requires_action",
        event_ids: [one?.request.tool_use_id, two?.request.tool_use_id],
      });
      if (when === "after its process is gone") await session.hibernate();
      // The second first; the session says again what it waits for.
      await t.host.approvals.answer(two?.id ?? "", given("for b"), ME);
      await until(
        () => session.state,
        ({ status, stopReason: reason }) => status === "idle" && reason?.type === "requires_action",
      );
      await t.host.approvals.answer(one?.id ?? "", given("for a"), ME);
      await finished(session);
      expect(
        requests()
          .at(-1)
          ?.toolResults.map(({ text }) => text)
          .toSorted(),
      ).toEqual(["for a", "for b"]);
      expect(ofType(await events(), "user.custom_tool_result")).toHaveLength(2);
      expect(requests()).toHaveLength(2);
    },
  );

  test.each([
    { what: "an error", answer: given("no such key", true), outcome: "failed", told: /^no such key$/ },
    {
      what: "a denial",
      answer: { behavior: "deny", message: "not for agents" } as const,
      outcome: "denied",
      told: /not for agents$/,
    },
  ])("that ends with $what tells the model so", async ({ answer, outcome, told }) => {
    const { t, session, events } = await client(looksUp("a"));
    await session.send("Work.").result();
    const { id } = await onlyOne(t.host);
    await t.host.approvals.answer(id, answer, ME);
    await finished(session);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: expect.stringMatching(told), isError: true }]);
    expect(ofType(await events(), "user.custom_tool_result")).toMatchObject([
      { outcome, is_error: true, by: "me", content: [{ text: expect.stringMatching(told) }] },
    ]);
  });

  test("that nobody answers in time is denied", async () => {
    await using t = await testHost(looksUp("a"));
    const session = await t.host.startSession({
      agent: clerk({ permissions: { approvals_expire_ms: 300 } }),
      cwd: t.cwd,
    });
    await session.send("Work.").result();
    await finished(session);
    expect(ofType(await eventsOf(t.host, session.id), "user.custom_tool_result")).toMatchObject([
      { outcome: "denied", content: [{ text: "Nobody answered in time." }] },
    ]);
  });

  test("beyond the limit of calls has no result, also when its client gave one", async () => {
    await using t = await testHost(looksUp("a", "b"));
    const session = await t.host.startSession({ agent: clerk({ budget: { tool_calls: 1 } }), cwd: t.cwd });
    await session.send("Work.").result();
    for (const { id } of await waiting(t.host)) await t.host.approvals.answer(id, given("blue"), ME);
    await until(
      () => session.state,
      ({ stopReason }) => stopReason?.type === "budget_reached",
    );
    const results = ofType(await eventsOf(t.host, session.id), "user.custom_tool_result");
    expect(results.map(({ outcome = "" }) => outcome).toSorted()).toEqual(["completed", "denied"]);
    expect(session.state).toMatchObject({ toolCalls: 1, openCalls: {} });
  });

  test.each([
    ["that was interrupted", async (session: Session) => session.interrupt()],
    [
      "that was interrupted without a process",
      async (session: Session) => {
        await session.hibernate();
        await session.interrupt();
      },
    ],
  ])("of a turn %s has no result, and takes none", async (_what, interrupt) => {
    const { t, session, events } = await client(looksUp("a"));
    await session.send("Work.").result();
    const { id } = await onlyOne(t.host);
    await interrupt(session);
    await expect(t.host.approvals.answer(id, given("too late"), ME)).rejects.toMatchObject({ code: "approval_closed" });
    const [result, ...others] = ofType(await events(), "user.custom_tool_result");
    expect(others).toEqual([]);
    expect(result).toMatchObject({ is_error: true, outcome: expect.stringMatching(/^(?:denied|aborted)$/) });
    expect(await session.send("Say it again.").result()).toMatchObject({ text: "hello again" });
    expect(JSON.stringify(t.model.requests.at(-1)?.body.messages)).not.toContain("too late");
  });

  test("whose result came just before the turn was ended keeps it", async () => {
    const { t, session, events } = await client(looksUp("a"));
    await session.send("Work.").result();
    await session.hibernate();
    await using second = await t.another();
    const { id } = await onlyOne(second);
    await second.approvals.answer(id, { ...given("teal"), eventId: "sevt_late" }, { by: "shop" });
    await session.interrupt();
    expect(ofType(await events(), "user.custom_tool_result")).toMatchObject([
      { id: "sevt_late", outcome: "completed", content: [{ text: "teal" }], by: "shop" },
    ]);
    expect(ofType(await events(), "capstan.permission_decided")).toMatchObject([{ decided_by: "person:shop" }]);
    expect(await t.host.approvals.get(id)).toMatchObject({ status: "settled" });
    expect(await session.send("Say it again.").result()).toMatchObject({ text: "hello again" });
    expect(t.model.requests.at(-1)?.transcript).toContain("teal");
  });
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MIXED: ToolContent = [
  { type: "text", text: "hello" },
  { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
  { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
  { type: "document", title: "Letter", source: { type: "text", media_type: "text/plain", data: "Dear all" } },
  { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjQKJSVFT0Y=" } },
  {
    type: "search_result",
    source: "https://example.com",
    title: "Example",
    content: [{ type: "text", text: "found" }],
    citations: { enabled: false },
  },
];

test.each(["while its process waits", "after its process is gone"])(
  "images, documents and search results reach the model as the client gave them %s",
  async (when) => {
    const { t, session, events, requests } = await client(looksUp("a"));
    await session.send("Work.").result();
    if (when === "after its process is gone") await session.hibernate();
    const { id } = await onlyOne(t.host);
    await t.host.approvals.answer(id, { behavior: "allow", result: { content: MIXED, isError: false } }, ME);
    await finished(session);
    const blocks = requests()
      .at(-1)
      ?.body.messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    expect(blocks?.findLast(({ type }) => type === "tool_result")).toMatchObject({ content: MIXED });
    expect(ofType(await events(), "user.custom_tool_result")).toMatchObject([{ content: MIXED }]);
  },
);

describe("permission for a custom tool", () => {
  test.each([
    ["a deny rule", { deny: ["lookup"] }, "rule:deny lookup"],
    ["read-only mode", { mode: "read-only" as const }, "mode:read-only"],
    ["plan mode", { mode: "plan" as const }, "mode:plan"],
  ])("is refused by %s, and no client is asked", async (_what, permissions, decidedBy) => {
    await using t = await testHost(looksUp("a"));
    const session = await t.host.startSession({ agent: clerk({ permissions }), cwd: t.cwd });
    await session.send("Work.").result();
    expect(await t.host.approvals.list()).toEqual([]);
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([{ decision: "deny", decided_by: decidedBy }]);
    expect(ofType(events, "user.custom_tool_result")).toMatchObject([{ outcome: "denied", is_error: true }]);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ isError: true }]);
  });

  test("is never given by a rule, a mode or a program that allows, and can be taken back by a mode", async () => {
    await using t = await testHost(looksUp("a"));
    const session = await t.host.startSession({
      agent: clerk({ permissions: { mode: "yolo", allow: ["lookup"] } }),
      cwd: t.cwd,
    });
    expect((await session.send("Work.").result()).stopReason.type).toBe("requires_action");
    const { id } = await onlyOne(t.host);
    for (const answer of [{ behavior: "allow" }, { behavior: "allow", scope: "always" }] as const)
      await expect(t.host.approvals.answer(id, answer, ME)).rejects.toMatchObject({ code: "invalid_input" });
    await session.setMode("accept-edits");
    expect((await onlyOne(t.host)).id).toBe(id);
    await session.setMode("read-only");
    await finished(session);
    expect(ofType(await eventsOf(t.host, session.id), "user.custom_tool_result")).toMatchObject([
      { outcome: "denied", content: [{ text: expect.stringContaining("read-only mode") }] },
    ]);
  });

  test("is refused when a hook changes the input, which the client would not see; other hooks see the outcome", async () => {
    await using t = await testHost(looksUp("a", "b"));
    const seen: string[] = [];
    const session = await t.host.startSession({
      agent: clerk(),
      cwd: t.cwd,
      hooks: {
        beforeTool: ({ input }) => (input["key"] === "b" ? { input: { key: "c" } } : undefined),
        afterTool: ({ tool, outcome }) => void seen.push(`${tool} ${outcome}`),
      },
    });
    await session.send("Work.").result();
    const { id, request } = await onlyOne(t.host);
    expect(request.input).toEqual({ key: "a" });
    await t.host.approvals.answer(id, given("blue"), ME);
    await finished(session);
    const told = t.model.requests.at(-1)?.toolResults ?? [];
    expect(told.find(({ isError }) => !isError)?.text).toBe("blue");
    expect(told.find(({ isError }) => isError)?.text).toContain("A hook changed the input");
    expect(seen.toSorted()).toEqual(["lookup completed", "lookup denied"]);
  });

  test("is for tools with a name of their own", async () => {
    await using t = await testHost(looksUp("a"));
    const same = defineTool({ name: "lookup", description: "x", input: z.object({}), handler: () => "" });
    await expect(t.host.startSession({ agent: clerk(), cwd: t.cwd, tools: [same] })).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("lookup"),
    });
  });
});

test("a program answers where it is asked", async () => {
  await using t = await testHost(looksUp("a"));
  const session = await t.host.startSession({
    agent: clerk(),
    cwd: t.cwd,
    askPermission: ({ kind, input }) =>
      kind === "custom_tool" ? given(`value of ${String(input["key"])}`) : { behavior: "deny" },
  });
  expect(await session.send("Work.").result()).toMatchObject({ text: "I saw value of a" });
});

test("a fork does not wait for what its parent waits for", async () => {
  await using t = await testHost(looksUp("a"));
  const session = await t.host.startSession({ agent: clerk(), cwd: t.cwd });
  await session.send("Work.").result();
  await using forked = await t.host.forkSession(session.id);
  expect(forked.state.openCalls).toEqual({});
  expect(await forked.send("Say it again.").result()).toMatchObject({ text: "hello again" });
  expect(t.model.requests.at(-1)?.transcript).toContain("No result");
  await t.host.approvals.answer((await onlyOne(t.host)).id, given("blue"), ME);
  await finished(session);
});

test.each(["while its process waits", "after its process is gone"])(
  "a subagent's call names its thread, and its result goes to that thread %s",
  async (when) => {
    await using t = await testHost(withHelper);
    const session = await t.host.startSession({
      agent: clerk({
        subagents: { helper: { description: "helps", instructions: "You are the HELPER.", tools: ["lookup"] } },
      }),
      cwd: t.cwd,
    });
    const { stopReason } = await session.send("Work.").result();
    const events = await eventsOf(t.host, session.id);
    const [thread] = ofType(events, "session.thread_created");
    const [made] = ofType(events, "agent.custom_tool_use");
    expect(made?.session_thread_id).toBe(thread?.session_thread_id);
    expect(stopReason).toEqual({ type: "requires_action", event_ids: [made?.id] });
    if (when === "after its process is gone") await session.hibernate();
    const { id, request } = await onlyOne(t.host);
    expect(request).toMatchObject({ agent: "helper", session_thread_id: made?.session_thread_id });
    await t.host.approvals.answer(id, given("blue"), ME);
    await finished(session);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: expect.stringContaining("Report: blue") }]);
    expect(ofType(await eventsOf(t.host, session.id), "user.custom_tool_result")).toMatchObject([
      { session_thread_id: made?.session_thread_id, custom_tool_use_id: made?.id, outcome: "completed" },
    ]);
  },
);

function withHelper(request: ModelRequest): Reply {
  // A subagent that is driven alone is not named in its requests: its task tells it apart.
  if (JSON.stringify(request.body.messages[0]).includes("Help with it")) {
    const [result] = request.toolResults;
    return result === undefined ? { blocks: [lookup("a")] } : say(`Report: ${result.text}`);
  }
  if (request.toolResults.length > 0) return say("All is finished.");
  return { blocks: [toolUse("Agent", { description: "help", subagent_type: "helper", prompt: "Help with it" })] };
}
