import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, test, vi } from "vitest";
import type { AgentDefinition } from "../../../src/core/agent/agent-definition.ts";
import { openMcpTools } from "../../../src/engines/direct/mcp-tools.ts";
import { Silence } from "../../../src/mcp/client/silence.ts";
import { everythingProgram, everythingRemote } from "../../support/mcp-everything.ts";
import { remoteMcp } from "../../support/mcp-remote.ts";
import { until } from "../../support/until.ts";
import { openServers as open, program } from "./open-servers.ts";
import { textOf } from "./tool-workspace.ts";

describe("the tools of a server", () => {
  test.each(["stdio", "http", "sse"] as const)("over %s are called, with all kinds of results", async (type) => {
    await using remote = type === "stdio" ? undefined : await everythingRemote(type);
    const every = { env: {}, headers: {}, args: [], ...(remote?.server ?? everythingProgram) };
    await using t = await open(() => ({
      every: type === "stdio" ? omit(every, "headers") : omit(every, "env", "args"),
    }));
    expect(t.tools.map(({ name }) => name)).toContain("mcp__every__echo");
    expect(textOf(await t.call("mcp__every__echo", { message: "hi" }))).toBe("Echo: hi");
    const image = await t.call("mcp__every__get-tiny-image");
    expect(image.content.map((block) => block.type)).toEqual(["text", "image", "text"]);
    const text = await t.call("mcp__every__get-resource-reference", { resourceType: "Text", resourceId: 1 });
    expect(textOf(text)).toContain("[Resource from every at demo://resource/dynamic/text/1] Resource 1: ");
    const blob = textOf(await t.call("mcp__every__get-resource-reference", { resourceType: "Blob", resourceId: 1 }));
    const [, file = ""] = /Binary content \(text\/plain, \d+ bytes\) saved to (\S+)/.exec(blob) ?? [];
    expect(readFileSync(file, "utf8")).toContain("Resource 1");
    const links = textOf(await t.call("mcp__every__get-resource-links", { count: 1 }));
    expect(links).toMatch(/\[Resource link: .* 1\] demo:\/\/resource\/dynamic\/\w+\/1 \(.*\)/);
    const structured = textOf(await t.call("mcp__every__get-structured-content", { location: "New York" }));
    expect(JSON.parse(structured)).toHaveProperty("temperature");
    const wrong = await t.call("mcp__every__echo", {});
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toContain("MCP error -32602: Input validation error: Invalid arguments for tool echo");
  });

  test("may change something, whatever the server says of them", async () => {
    await using t = await open(() => ({ office: program("mcp-server.ts") }));
    const act = t.tools.find(({ name }) => name === "mcp__office__act");
    expect(act?.traits).toEqual({ readOnly: false, edit: false, safeInternal: false });
  });

  test("see the variables that they are given, and none of the host's", async () => {
    await using t = await open((path) => ({
      office: program("mcp-server.ts", { SEEN_ENVIRONMENT: join(path, "seen.json"), OWN: "x" }),
    }));
    const seen = JSON.parse(readFileSync(join(t.path, "seen.json"), "utf8")) as Record<string, string>;
    expect(Object.keys(seen).toSorted()).toEqual(["HOME", "LANG", "OWN", "PATH", "SEEN_ENVIRONMENT", "TMPDIR"]);
    expect(seen["HOME"]).toBe(join(t.stateDir, "home"));
  });

  test("ask a person, and get the answer", async () => {
    await using t = await open((path) => ({ office: program("mcp-server.ts", { CALLS: join(path, "calls") }) }), {
      answer: async ({ server, message, requested }) => {
        expect([server, message, requested.kind]).toEqual(["office", "Which room shall I book?", "form"]);
        return { action: "accept", content: { room: "red", people: 2, catering: false } };
      },
    });
    expect(JSON.parse(textOf(await t.call("mcp__office__book")))).toEqual({
      action: "accept",
      content: { room: "red", people: 2, catering: false },
    });
  });

  test("change when the server says so", async () => {
    const made: McpServer[] = [];
    await using remote = await remoteMcp("http", () => {
      const server = new McpServer({ name: "growing", version: "1" });
      server.registerTool("first", {}, () => ({ content: [] }));
      made.push(server);
      return server;
    });
    await using t = await open(() => ({ growing: remote.server }));
    expect(t.tools.map(({ name }) => name)).toEqual(["mcp__growing__first"]);
    made[0]?.registerTool("second.one", {}, () => ({ content: [{ type: "text", text: "done" }] }));
    await until(
      () => t.tools.length,
      (count) => count === 2,
    );
    expect(textOf(await t.call("mcp__growing__second_one"))).toBe("done");
  });

  test("are not loaded for an agent without servers", async () => {
    const tools = await openMcpTools(
      { agent: {} as AgentDefinition, cwd: "/", stateDir: "/nowhere", sessionId: "sesn_1" },
      {
        path: "",
        host: { elicit: () => Promise.reject(new Error("not asked")) },
        connectRemoteServer: () => Promise.reject(new Error("not connected")),
        connectServer: () => Promise.reject(new Error("not connected")),
      },
    );
    expect(tools.tools).toEqual([]);
    await tools.close();
  });
});

describe("a server that misbehaves", () => {
  test("and dies gives a failed call that names it, and is started again for the next one", async () => {
    await using t = await open(() => ({ bad: program("mcp-bad-server.ts") }));
    const died = await t.call("mcp__bad__die");
    expect(died.isError).toBe(true);
    expect(textOf(died)).toBe(
      "The MCP server bad failed: its program exited with code 1. It is unknown whether the call took effect. The next call restarts it.",
    );
    expect(textOf(await t.call("mcp__bad__live"))).toBe("live done");
  });

  test("and hangs is given up after a while", async () => {
    await using t = await open(() => ({ slow: program("mcp-slow-server.ts") }), { idleMs: 1_000 });
    const hung = await t.call("mcp__slow__hang");
    expect(textOf(hung)).toBe(
      "The MCP server slow failed: it was silent for 1 seconds. It is unknown whether the call took effect.",
    );
  });

  test("is not given up while it waits for a person", async () => {
    const idleMs = 60_000;
    await using t = await open(() => ({ slow: program("mcp-slow-server.ts") }), {
      idleMs,
      answer: async () => {
        vi.advanceTimersByTime(10 * idleMs);
        return { action: "decline" };
      },
    });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      expect(textOf(await t.call("mcp__slow__ask"))).toBe("decline");
    } finally {
      vi.useRealTimers();
    }
  });

  test("is not given up as long as it reports progress", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      using silence = new Silence(1_000, () => false);
      for (let step = 0; step < 5; step++) {
        vi.advanceTimersByTime(900);
        silence.restart();
      }
      expect(silence.signal.aborted).toBe(false);
      vi.advanceTimersByTime(1_000);
      expect(silence.signal.aborted).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  test("is told when its call is cancelled", async () => {
    await using t = await open((path) => ({
      slow: program("mcp-slow-server.ts", { CANCELLED: join(path, "cancelled") }),
    }));
    const controller = new AbortController();
    const running = t.call("mcp__slow__hang", {}, controller.signal);
    await until(() => existsSync(join(t.path, "cancelled.started")), Boolean);
    controller.abort();
    expect(textOf(await running)).toBe("The call of the MCP server slow was canceled.");
    await until(() => existsSync(join(t.path, "cancelled")), Boolean);
  });

  test("and floods is ended", async () => {
    await using t = await open(() => ({ slow: program("mcp-slow-server.ts") }));
    const outcome = await t.call("mcp__slow__flood");
    expect(textOf(outcome)).toContain("The MCP server slow failed: it wrote a line of more than 64 MB.");
  });

  test("and says without end that its tools have changed is asked for them now and then", async () => {
    await using t = await open(() => ({ slow: program("mcp-slow-server.ts") }));
    expect(textOf(await t.call("mcp__slow__announce"))).toBe("announced");
    expect(Number(textOf(await t.call("mcp__slow__listings")))).toBeLessThan(500);
  });

  test("gives a long result as a file", async () => {
    await using t = await open(() => ({ slow: program("mcp-slow-server.ts") }));
    const outcome = await t.call("mcp__slow__long");
    expect(textOf(outcome)).toMatch(/^<persisted-output>/);
    expect(readFileSync(outcome.outputFile ?? "", "utf8")).toHaveLength(300_000);
  });

  test("and does not start is named as for the other engine, and nothing is left behind", async () => {
    const dead = { command: "/bin/false", args: [], env: {} };
    await expect(open(() => ({ dead, office: program("mcp-server.ts") }))).rejects.toMatchObject({
      code: "engine_failed",
      data: { servers: ["dead"] },
      message: expect.stringMatching(
        /^The MCP server dead \(its program exited with code 1\) did not start\. Run its command by hand to see why/,
      ),
    });
    const missing = { command: "/nowhere/program", args: [], env: {} };
    await expect(open(() => ({ missing }))).rejects.toThrow("The MCP server missing (/nowhere/program was not found)");
  });

  test("and lacks a tool that its policy speaks of, or lists what is wrong, is refused", async () => {
    const mistyped = { ...program("mcp-server.ts"), tools: { akt: "deny" } };
    await expect(open(() => ({ office: mistyped }))).rejects.toMatchObject({ code: "invalid_agent" });
    const wrong = program("mcp-bad-server.ts", { WRONG_LIST: "1" });
    await expect(open(() => ({ wrong }))).rejects.toThrow("The MCP server wrong offers no tools");
  });

  test("is gone when the session is closed, with its start file", async () => {
    const t = await open(() => ({ slow: program("mcp-slow-server.ts") }));
    const starts = join(t.stateDir, "mcp/.start");
    expect(readdirSync(starts)).toHaveLength(1);
    await t.close();
    expect(readdirSync(starts)).toEqual([]);
    expect((await t.call("mcp__slow__long")).isError).toBe(true);
    await t[Symbol.asyncDispose]();
  });

  test("is gone when the session is killed, also with a call under way", async () => {
    await using t = await open(() => ({ slow: program("mcp-slow-server.ts") }));
    const running = t.call("mcp__slow__hang");
    expect(processesWith(t.stateDir).length).toBeGreaterThan(0);
    t.kill();
    expect((await running).isError).toBe(true);
    await expect.poll(() => processesWith(t.stateDir)).toEqual([]);
    expect(readdirSync(join(t.stateDir, "mcp/.start"))).toEqual([]);
  });
});

/** The processes that have a text in one of their variables. */
function processesWith(text: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "latin1").includes(text);
    } catch {
      return false;
    }
  });
}

function omit(given: object, ...keys: string[]): object {
  return Object.fromEntries(Object.entries(given).filter(([key]) => !keys.includes(key)));
}
