import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { call, say } from "../support/scripted-model.ts";

const PROGRAM = fileURLToPath(new URL("../support/mcp-bad-server.ts", import.meta.url));

const withBad = (env: Readonly<Record<string, string>> = {}) =>
  agent({
    mcp_servers: { bad: { command: process.execPath, args: [PROGRAM], env, tools: { "*": "allow" } } },
  });

test("a server that talks beside the protocol works, and one that dies in a call fails it and is started again", async () => {
  const calls = ["live", "die", "tool_499"].map((name) => call(`mcp__bad__${name}`, {}));
  await using t = await testHost(() => calls.shift() ?? say("Done."));
  const session = await t.host.startSession({ agent: withBad({ MANY: "500" }), cwd: t.cwd });
  expect((await session.send("Go.").result()).text).toBe("Done.");
  expect(ofType(await eventsOf(t.host, session.id), "agent.mcp_tool_result")).toMatchObject([
    { outcome: "completed", content: [{ text: "live done" }] },
    {
      outcome: "failed",
      content: [{ text: expect.stringMatching(/Connection closed|its program exited with code 1/) }],
    },
    { outcome: "completed", content: [{ text: "tool_499 done" }] },
  ]);
  // All of its tools are in every request, in the same order.
  const offered = t.model.requests.map(({ body }) => (body.tools ?? []).map(({ name }) => name));
  expect(offered[0]?.filter((name) => name.startsWith("mcp__bad__"))).toHaveLength(502);
  expect(new Set(offered.map(String)).size).toBe(1);
});

test("a server with a list of tools that the engine takes for an empty one is named", async () => {
  await using t = await testHost(() => say("Hello."));
  const session = await t.host.startSession({ agent: withBad({ WRONG_LIST: "1" }), cwd: t.cwd });
  await expect(session.send("Go.").result()).rejects.toMatchObject({
    code: "engine_failed",
    message: expect.stringMatching(/^The MCP server bad offers no tools: its list is empty, or a tool/),
  });
  expect(t.model.requests).toEqual([]);
});

test("a turn that waits for a server that says nothing can be interrupted, and its message waits for the next", async () => {
  await using t = await testHost(() => say("Hello."));
  const started = join(t.home, "started");
  const silent = agent({
    mcp_servers: { silent: { command: "sh", args: ["-c", `touch "$1"; exec sleep 1000`, "sh", started] } },
  });
  const session = await t.host.startSession({ agent: silent, cwd: t.cwd });
  const turn = session.send("Go.").result();
  await expect.poll(() => existsSync(started)).toBe(true);
  await session.interrupt();
  await turn;
  const events = await eventsOf(t.host, session.id);
  expect(ofType(events, "user.interrupt")).toHaveLength(1);
  expect([...ofType(events, "session.error"), ...ofType(events, "capstan.process_started")]).toEqual([]);
  expect(session.state.undelivered).toHaveLength(1);
}, 20_000);
