import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { describeTool, requireKnownTools } from "../../src/app/check/tool-traits.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { readCall } from "../../src/runtime/policy/policy-call.ts";
import { explainCall } from "../../src/runtime/policy/policy-check.ts";
import { replayRules } from "../../src/runtime/policy/policy-replay.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { everythingProgram, everythingRemote } from "../support/mcp-everything.ts";
import { remoteMcp } from "../support/mcp-remote.ts";
import { office } from "../support/office.ts";
import { call, say, type Script, toolUse } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";

const ME = { by: "me" };
const TOKEN = "desk-token-4711-of-the-host";

/** A server that tells what it was sent, and asks before it books. */
function desk(done: string[] = []): () => McpServer {
  return () => {
    const server = new McpServer({ name: "desk", version: "1" });
    server.registerTool("act", { inputSchema: { what: z.string() } }, ({ what }, { requestInfo }) => {
      done.push(what);
      return { content: [{ type: "text", text: `${what} by ${String(requestInfo?.headers["authorization"])}` }] };
    });
    server.registerTool("delete", { annotations: { readOnlyHint: true } }, () => {
      done.push("deleted");
      return { content: [] };
    });
    server.registerTool("book", {}, async () => {
      const answer = await server.server.elicitInput({
        message: "Which room?",
        requestedSchema: { type: "object", properties: { room: { type: "string" } }, required: ["room"] },
      });
      return { content: [{ type: "text", text: JSON.stringify(answer) }] };
    });
    return server;
  };
}

/** Makes these calls, one after the other. */
const calling = (...calls: readonly ReturnType<typeof call>[]): Script => {
  const left = [...calls];
  return () => left.shift() ?? say("Done.");
};

test("a server from npm is the same for the agent over stdio, http and sse", async () => {
  await using web = await everythingRemote("http");
  await using old = await everythingRemote("sse");
  const names = ["local", "web", "old"];
  const calls = names.map((name) => toolUse(`mcp__${name}__get-sum`, { a: 20, b: 22 }));
  await using t = await testHost(calling({ blocks: calls }));
  const session = await t.host.startSession({
    agent: agent({
      mcp_servers: { local: everythingProgram, web: web.server, old: old.server },
      permissions: { allow: names.map((name) => `mcp__${name}`) },
    }),
    cwd: t.cwd,
  });
  expect((await session.send("Add.").result()).text).toBe("Done.");
  expect(t.model.requests[1]?.toolResults.map(({ text }) => text)).toEqual(
    names.map(() => "The sum of 20 and 22 is 42."),
  );
  const offered = t.model.requests[0]?.body.tools ?? [];
  const ofServer = (name: string) =>
    offered
      .filter((tool) => tool.name.startsWith(`mcp__${name}__`))
      .map(({ name: tool, input_schema }) => [tool.slice(`mcp__${name}__`.length), input_schema])
      // What needs the files of the machine is not offered by the servers somewhere else.
      .filter(([tool]) => tool !== "get-roots-list");
  expect(ofServer("web").length).toBeGreaterThan(10);
  expect(ofServer("web")).toEqual(ofServer("old"));
  expect(ofServer("web")).toEqual(ofServer("local"));
  expect(ofType(await eventsOf(t.host, session.id), "agent.mcp_tool_use")).toMatchObject(
    names.map((name) => ({ mcp_server_name: name, name: "get-sum" })),
  );
});

describe("a server somewhere else", () => {
  test("gets its headers from the host's variables, and neither they nor the address reach the agent or the log", async () => {
    await using remote = await remoteMcp("http", desk());
    await using t = await testHost(calling(call("mcp__desk__act", { what: "written" })));
    await using host = await t.another({ environment: { ...t.environment, DESK_TOKEN: TOKEN } });
    const session = await host.startSession({
      agent: agent({
        mcp_servers: { desk: { ...remote.server, headers: { Authorization: "Bearer ${DESK_TOKEN}" } } },
        tools: ["Bash"],
        permissions: { allow: ["mcp__desk"] },
      }),
      cwd: t.cwd,
    });
    await session.send("Act.").result();
    // The server was sent it, and says so to the model.
    expect(t.model.requests[1]?.toolResults).toMatchObject([{ text: `written by Bearer ${TOKEN}` }]);
    const events = await eventsOf(host, session.id);
    expect(JSON.stringify(ofType(events, "agent.mcp_tool_result"))).toContain("[redacted:");
    expect(JSON.stringify(events)).not.toContain(TOKEN);
    const record = await host.session(session.id);
    expect(record?.agent.mcp_servers).toMatchObject({ desk: { headers: { Authorization: "Bearer ${DESK_TOKEN}" } } });

    const [started] = ofType(events, "capstan.process_started");
    const seen =
      ownFiles(started?.pid ?? 0) + JSON.stringify(t.model.requests.map(({ body }) => [body.tools, body.system]));
    expect(seen).toContain("mcp__desk__act");
    expect(seen).not.toContain(TOKEN);
    expect(seen).not.toContain(new URL(remote.origin).port);
    const stateDir = readTree(join(t.home, "sessions", session.id));
    expect(stateDir).not.toContain(remote.origin);
  });

  test("has a call that a person allows while its process is gone run once", async () => {
    const done: string[] = [];
    await using remote = await remoteMcp("http", desk(done));
    await using t = await testHost(calling(call("mcp__desk__act", { what: "approved" })));
    const session = await t.host.startSession({ agent: agent({ mcp_servers: { desk: remote.server } }), cwd: t.cwd });
    expect((await session.send("Act.").result()).stopReason.type).toBe("requires_action");
    await session.hibernate();
    const [asked] = await t.host.approvals.list({ status: "pending" });
    await t.host.approvals.answer(asked?.id ?? "", { behavior: "allow" }, ME);
    await until(
      () => session.state,
      (state) => state.stopReason?.type === "end_turn",
    );
    expect(done).toEqual(["approved"]);
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([{ text: "approved by undefined", isError: false }]);
    // Each process has a connection of its own, and none is left when it is gone.
    await session.hibernate();
    await until(remote.sessions, (count) => count === 0);
  });

  test("may ask people while its tool runs", async () => {
    await using remote = await remoteMcp("sse", desk());
    await using t = await testHost(calling(call("mcp__desk__book", {})));
    const session = await t.host.startSession({
      agent: agent({ mcp_servers: { desk: { ...remote.server, tools: { book: "allow" } } } }),
      cwd: t.cwd,
      askPermission: ({ kind, title }) =>
        kind === "question" && title === "Which room?" ? { behavior: "allow", answers: { room: "blue" } } : undefined,
    });
    await session.send("Book.").result();
    expect(t.model.requests.at(-1)?.toolResults).toMatchObject([
      { text: '{"action":"accept","content":{"room":"blue"}}', isError: false },
    ]);
  });

  test("that is out of order ends the turn with its name, and the next message finds it mended", async () => {
    await using remote = await remoteMcp("http", desk());
    await using t = await testHost(() => say("Here."));
    remote.isDown = true;
    const session = await t.host.startSession({ agent: agent({ mcp_servers: { desk: remote.server } }), cwd: t.cwd });
    await expect(session.send("Hello?").result()).rejects.toMatchObject({
      code: "engine_failed",
      message: "The MCP server desk cannot be used: it answered 503. Try again later, or check the server's log.",
    });
    expect(ofType(await eventsOf(t.host, session.id), "session.error")).toHaveLength(1);
    expect(t.model.requests).toEqual([]);
    remote.isDown = false;
    await session.send("And now?").result();
    // What was said before is not lost.
    expect(t.model.requests.at(-1)?.transcript).toMatch(/Hello\?.*And now\?/s);
  });
});

describe("what an agent says of a server's tools", () => {
  test("decides about its calls, as the log, a check and a replay tell", async () => {
    const done: string[] = [];
    await using remote = await remoteMcp("http", desk(done));
    await using t = await testHost(
      calling({ blocks: [toolUse("mcp__desk__delete", {}), toolUse("mcp__desk__act", { what: "allowed" })] }),
    );
    const clerk = agent({
      mcp_servers: { desk: { ...remote.server, tools: { delete: "deny", act: "allow", "*": "ask" } } },
      permissions: { mode: "yolo" },
    });
    const session = await t.host.startSession({ agent: clerk, cwd: t.cwd });
    await session.send("Go.").result();
    expect(done).toEqual(["allowed"]);
    expect(ofType(await eventsOf(t.host, session.id), "capstan.permission_decided")).toMatchObject([
      { tool: "mcp__desk__delete", decision: "deny", decided_by: "rule:deny mcp_servers.desk.tools.delete" },
      { tool: "mcp__desk__act", decision: "allow", decided_by: "rule:allow mcp_servers.desk.tools.act" },
    ]);

    const policy = {
      describeTool,
      requireKnownTools,
      hasSandbox: () => false,
      home: t.home,
      capstanHome: t.home,
      secretFiles: [],
    };
    const question = { agent: parseAgent(clerk), environment: parseEnvironment({}), cwd: t.cwd };
    expect(explainCall(policy, { ...question, call: readCall("mcp__desk__delete") })).toMatchObject({
      behavior: "deny",
      reason: "The rule mcp_servers.desk.tools.delete denies this call.",
    });
    expect(explainCall(policy, { ...question, call: readCall("mcp__desk__book") })).toMatchObject({
      behavior: "ask",
      decidedBy: "rule:ask mcp_servers.desk.tools.*",
    });
    // Other rules are tried beside what the session's own agent says of its servers.
    const { lines } = await replayRules(t.host, policy, { permissions: { allow: ["mcp__desk"], mode: "normal" } });
    expect(lines).toMatchObject([
      { tool: "mcp__desk__delete", before: "deny", now: "deny", decided_by: "rule:deny mcp_servers.desk.tools.delete" },
      { tool: "mcp__desk__act", before: "allow", now: "allow", decided_by: "rule:allow mcp__desk" },
    ]);
  });

  test("must be about tools that the server has", async () => {
    await using remote = await remoteMcp("http", desk());
    await using t = await testHost(() => say("Hello."));
    const session = await t.host.startSession({
      agent: agent({ mcp_servers: { desk: { ...remote.server, tools: { delte: "deny" } } } }),
      cwd: t.cwd,
    });
    await expect(session.send("Hello?").result()).rejects.toMatchObject({
      message: "mcp_servers.desk.tools.delte: the server has no such tool; did you mean delete?",
    });
    expect(t.model.requests).toEqual([]);
  });
});

test("what a program is started with is gone with the process", async () => {
  await using t = await testHost(() => say("Hello."));
  await using host = await t.another({ environment: { ...t.environment, DESK_TOKEN: TOKEN } });
  const { servers } = office(t.home, { TOKEN: "${DESK_TOKEN}" });
  const session = await host.startSession({ agent: agent({ mcp_servers: servers }), cwd: t.cwd });
  await session.send("Hello?").result();
  const directory = join(t.home, "sessions", session.id);
  expect(readTree(directory)).toContain(TOKEN);
  await session.hibernate();
  expect(readTree(directory)).not.toContain(TOKEN);
});

test("a variable that is not set is named before anything is stored", async () => {
  await using t = await testHost(() => say("Hello."));
  const start = (mcp_servers: NonNullable<Parameters<typeof agent>[0]>["mcp_servers"]) =>
    t.host.startSession({ agent: agent({ mcp_servers }), cwd: t.cwd });
  await expect(start({ desk: { command: "desk", env: { TOKEN: "${DESK_TOKEN}" } } })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("mcp_servers.desk.env.TOKEN: the variable DESK_TOKEN is not set"),
  });
  await expect(start({ desk: { command: "desk", env: { TOKEN: "${ANTHROPIC_API_KEY}" } } })).rejects.toThrow(
    "ANTHROPIC_API_KEY is a credential of the host",
  );
  expect(await t.host.sessions()).toEqual([]);
});

/** Empty for what is gone by now. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** What a process and all it started show of themselves. */
function ownFiles(pid: number): string {
  const below = (id: number): number[] => [
    id,
    ...read(`/proc/${id}/task/${id}/children`).trim().split(" ").filter(Boolean).map(Number).flatMap(below),
  ];
  return below(pid)
    .map((id) => read(`/proc/${id}/environ`) + read(`/proc/${id}/cmdline`))
    .join("\n");
}

function readTree(directory: string): string {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}
