import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import type { Approval } from "../../src/core/session/approval.ts";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import { FASTER } from "../support/cli.ts";
import { killEngine } from "../support/engine-process.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { office } from "../support/office.ts";
import { call, say, type Script } from "../support/scripted-model.ts";
import { sharedSession } from "../support/shared-session.ts";
import { until } from "../support/until.ts";

const ME = { by: "me" };
const calls =
  (tool: string): Script =>
  ({ toolResults }) =>
    toolResults.length === 0 ? call(`mcp__office__${tool}`, {}) : say("Done.");

async function question(host: Host): Promise<Approval> {
  const [approval] = await until(
    () => host.approvals.list({ status: "pending" }),
    (list) => list.length > 0,
  );
  if (approval === undefined) throw new Error("nobody was asked");
  return approval;
}

const secretary = (servers: ReturnType<typeof office>["servers"], more: Partial<AgentInput> = {}) =>
  agent({ mcp_servers: servers, permissions: { allow: ["mcp__office"] }, ...more });

const DETAILS = { room: "blue", people: "4", catering: "yes" };

describe("what an MCP server asks while its tool runs", () => {
  test("is a question in the inbox, and its answer reaches the server in the types it asked for", async () => {
    await using t = await testHost(calls("book"));
    const { servers, listDone } = office(t.home);
    const session = await t.host.startSession({ agent: secretary(servers), cwd: t.cwd });
    const result = await session.send("Book.").result();
    const asked = await question(t.host);
    expect(asked.request).toMatchObject({
      kind: "question",
      title: "Which room shall I book?",
      tool: "mcp__office__book",
      asked_by: "server:office",
      input: {
        server: "office",
        message: "Which room shall I book?",
        requested_schema: { required: ["room", "people", "catering"] },
      },
      remember: [],
    });
    expect(result.stopReason).toEqual({ type: "requires_action", event_ids: [asked.request.tool_use_id] });

    const answer = (answers: Record<string, string>) =>
      t.host.approvals.answer(asked.id, { behavior: "allow", answers }, ME);
    await expect(answer({ room: "green", people: "13", colour: "red" })).rejects.toThrow(
      /colour: unknown field.*room: expected one of red, blue.*people: expected at most 12.*catering: missing/s,
    );
    await answer(DETAILS);
    await until(
      () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(listDone()).toEqual(['{"action":"accept","content":{"room":"blue","people":4,"catering":true}}']);
    const events = await eventsOf(t.host, session.id);
    expect(ofType(events, "capstan.elicitation_settled")).toMatchObject([
      { action: "accept", decided_by: "person:me", content: { room: "blue", people: 4, catering: true } },
    ]);
    expect(ofType(events, "user.tool_confirmation")).toMatchObject([{ approval_id: asked.id, by: "me" }]);
    // The call itself was decided once, by its rule.
    expect(ofType(events, "capstan.permission_decided")).toMatchObject([{ decided_by: "rule:allow mcp__office" }]);
    expect(session.state.toolCalls).toBe(1);
    expect((await t.host.approvals.get(asked.id)).status).toBe("settled");
  });

  test("is answered by the program that drives the session", async () => {
    await using t = await testHost(calls("book"));
    const { servers, listDone } = office(t.home);
    const session = await t.host.startSession({
      agent: secretary(servers),
      cwd: t.cwd,
      askPermission: ({ kind, title, input }) =>
        kind === "question" && title.includes("room") && input["server"] === "office"
          ? { behavior: "allow", answers: DETAILS }
          : undefined,
    });
    expect((await session.send("Book.").result()).stopReason.type).toBe("end_turn");
    expect(listDone()).toHaveLength(1);
  });

  test("can be declined", async () => {
    await using t = await testHost(calls("book"));
    const { servers, listDone } = office(t.home);
    const session = await t.host.startSession({
      agent: secretary(servers),
      cwd: t.cwd,
      askPermission: () => ({ behavior: "deny" }),
    });
    await session.send("Book.").result();
    expect(listDone()).toEqual(['{"action":"decline"}']);
  });

  const asking = sharedSession((t) => secretary(office(t.home).servers));
  const askingInItsOwnProcess = sharedSession((t) => secretary(office(t.home).servers, { engine: "claude" }));

  test("may be to go to an address", async () => {
    const { t, session } = await asking(calls("sign_in"));
    await session.send("Sign in.").result();
    const asked = await question(t.host);
    expect(asked.request).toMatchObject({
      title: "Please sign in.",
      input: { server: "office", url: "https://sign-in.example/start" },
    });
    await t.host.approvals.answer(asked.id, { behavior: "allow" }, ME);
    await until(
      () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: '{"action":"accept"}', isError: false }]);
  });

  test("is over when the server does not wait for the answer, and the turn goes on", async () => {
    const { t, session, events } = await asking(calls("hurry"));
    await session.send("Hurry.").result();
    await until(
      () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: "too late" }]);
    const [asked, ...others] = ofType(await events(), "capstan.approval_requested");
    expect(others).toEqual([]);
    expect(await t.host.approvals.get(asked?.approval_id ?? "")).toMatchObject({ status: "settled", answer: null });
    const types = (await events()).map(({ type }) => type);
    const statuses = types.filter((type) => type.startsWith("session.status_"));
    expect(statuses).toEqual(
      statuses.map((_, index) => (index % 2 === 0 ? "session.status_running" : "session.status_idle")),
    );
    expect(types.findLastIndex((type) => type === "agent.message")).toBeGreaterThan(
      types.lastIndexOf("session.status_running"),
    );
  });

  test.each(["interrupted", "killed", "put to sleep"])("is over when the process that asks is %s", async (how) => {
    const { t, session, events } = await (how === "killed" ? askingInItsOwnProcess : asking)(calls("book"));
    const { listDone } = office(t.home);
    await session.send("Book.").result();
    const asked = await question(t.host);
    if (how === "interrupted") await session.interrupt();
    else if (how === "put to sleep") await session.hibernate();
    else await killEngine(t.host, session.id);
    await until(
      () => session.state,
      (state) => state.status === "idle" && state.stopReason?.type !== "requires_action",
    );
    const approval = await t.host.approvals.get(asked.id);
    expect(approval).toMatchObject({ status: "settled", answer: null });
    await expect(t.host.approvals.answer(asked.id, { behavior: "allow", answers: DETAILS }, ME)).rejects.toMatchObject({
      code: "approval_closed",
    });
    expect(ofType(await events(), "capstan.elicitation_settled")).toMatchObject([
      { approval_id: asked.id, action: "cancel" },
    ]);
    expect(session.state.openCalls).toEqual({});
    expect(listDone().filter((line) => line.includes("accept"))).toEqual([]);
    t.model.script = () => say("Here again.");
    expect((await session.send("Go on.").result()).text).toBe("Here again.");
  });

  test("is over when the host is killed, and the next host goes on with the turn", async () => {
    await using t = await testHost(calls("book"));
    const { servers, listDone } = office(t.home);
    const child = fork(join(import.meta.dirname, "../support/waiting-host.ts"), [], {
      stdio: "inherit",
      env: { ...process.env, ...FASTER },
    });
    const { home, cwd, environment } = t;
    child.send({ home, cwd, environment: { ...environment }, agent: secretary(servers), message: "Book." });
    const [sessionId] = (await once(child, "message")) as [string];
    await until(
      () => t.host.read(sessionId),
      (events) => ofType(events, "session.status_idle").length > 0,
    );
    const asked = await question(t.host);
    child.kill("SIGKILL");
    await once(child, "exit");

    const session = await t.host.resumeSession(sessionId, { onCrash: "continue" });
    await until(
      () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect((await t.host.approvals.get(asked.id)).status).toBe("settled");
    expect(t.model.requests.at(-1)?.transcript).toContain("its outcome is unknown");
    // An agent that notices before it dies tells its server once that nobody will answer; nothing else may reach it.
    expect([[], [JSON.stringify({ action: "cancel" })]]).toContainEqual(listDone());
  });
});

test("a call of an MCP server that a person allows while its process is gone is run once", async () => {
  await using t = await testHost(({ toolResults }) =>
    toolResults.length === 0 ? call("mcp__office__act", { what: "approved" }) : say("Done."),
  );
  const { servers, listDone } = office(t.home);
  const session = await t.host.startSession({ agent: agent({ mcp_servers: servers }), cwd: t.cwd });
  expect((await session.send("Act.").result()).stopReason.type).toBe("requires_action");
  await session.hibernate();
  const asked = await question(t.host);
  expect(asked.request).toMatchObject({ kind: "tool", tool: "mcp__office__act", asked_by: "default:ask" });
  await t.host.approvals.answer(asked.id, { behavior: "allow" }, ME);
  await until(
    () => session.state,
    (state) => state.stopReason?.type === "end_turn",
  );
  expect(listDone()).toEqual(["approved"]);
  expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: "acted: approved", isError: false }]);
});

test("an MCP server sees its own variables, and nothing of the agent's", async () => {
  await using t = await testHost(calls("act"));
  const seen = join(t.home, "seen.json");
  const { servers } = office(t.home, { SEEN_ENVIRONMENT: seen, QUOTED: 'it\'s a "$HOME" `id`' });
  const session = await t.host.startSession({ agent: secretary(servers), cwd: t.cwd, variables: { FOR_BASH: "1" } });
  await session.send("Act.").result();
  const environment = JSON.parse(readFileSync(seen, "utf8")) as Record<string, string>;
  expect(Object.keys(environment).toSorted()).toEqual(
    ["CALLS", "HOME", "LANG", "PATH", "QUOTED", "SEEN_ENVIRONMENT", "TMPDIR"].toSorted(),
  );
  expect(environment["QUOTED"]).toBe('it\'s a "$HOME" `id`');
  expect(environment["HOME"]).toContain(session.id);
});

test.each([
  ["whose program does not exist", { command: "/no/such/program" }],
  ["that ends at once", { command: "false" }],
])("an MCP server %s is named, and the turn does not go on without it", async (_what, server) => {
  await using t = await testHost(() => say("Hello."));
  const session = await t.host.startSession({ agent: agent({ mcp_servers: { broken: server } }), cwd: t.cwd });
  await expect(session.send("Hello?").result()).rejects.toMatchObject({
    code: "engine_failed",
    message: expect.stringMatching(/The MCP server broken .* did not start\. .*mcp_servers/),
  });
  expect(ofType(await eventsOf(t.host, session.id), "session.error")).toHaveLength(1);
  expect(t.model.requests).toEqual([]);
});
