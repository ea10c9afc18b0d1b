import type { RequestListener } from "node:http";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test, vi } from "vitest";
import type { RemoteMcpServer } from "../../src/core/agent/mcp-server-schema.ts";
import { connectRemoteServer } from "../../src/mcp/remote/server.ts";
import { listen, remoteMcp } from "../support/mcp-remote.ts";

const SECRET = "sekret-of-the-test-1";
const headers = { "X-Desk-Key": SECRET, "X-Team": "blue" };

const connect = (server: RemoteMcpServer) =>
  connectRemoteServer({ name: "desk", server, elicit: async () => ({ action: "cancel" }) });

/** What is said about a server that cannot be used. */
async function refusal(server: RemoteMcpServer): Promise<{ readonly code: unknown; readonly message: string }> {
  const problem: unknown = await connect(server).catch((thrown: unknown) => thrown);
  if (!(problem instanceof Error)) throw new Error("it could be used");
  expect(problem.message).not.toContain(SECRET);
  return { code: "code" in problem ? problem.code : undefined, message: problem.message };
}

const says =
  (status: number, more: Readonly<Record<string, string>> = {}, body = ""): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, more).end(body);

const EVENTS = { "content-type": "text/event-stream" };

describe("a server that cannot be used is named, with what is wrong and what to do", () => {
  test.each<[what: string, type: RemoteMcpServer["type"], RequestListener, said: RegExp]>([
    [
      "does not know us",
      "http",
      says(401),
      /answered 401: access denied\. Capstan sent the headers X-Desk-Key, X-Team\. Check mcp_servers\.desk\.headers\.$/,
    ],
    ["does not know us", "sse", says(401), /answered 401: access denied/],
    ["does not let us in", "http", says(403, {}, SECRET), /answered 403/],
    [
      "is not there",
      "http",
      says(404),
      /answered 404\. Check mcp_servers\.desk\.url, and whether mcp_servers\.desk\.type, now http, is right/,
    ],
    ["is of the other kind", "sse", says(405), /answered 405\. .* now sse, is right/],
    ["is out of order", "http", says(503, {}, SECRET), /answered 503\. Try again later/],
    [
      "is a web page",
      "http",
      says(200, { "content-type": "text/html" }, "<h1>Welcome</h1>"),
      /its answer is not MCP\. Check mcp_servers\.desk\.url/,
    ],
    ["is a web page", "sse", says(200, { "content-type": "text/html" }, "<h1>Welcome</h1>"), /its answer is not MCP/],
    [
      "speaks JSON of its own",
      "http",
      says(200, { "content-type": "application/json" }, '{"hello": 1}'),
      /its answer is not MCP/,
    ],
    [
      "speaks half of JSON",
      "http",
      says(200, { "content-type": "application/json" }, '{"jsonrpc": '),
      /its answer is not MCP/,
    ],
    ["speaks garbage in events", "http", says(200, EVENTS, "data: %%%\n\n"), /its answer is not MCP/],
    ["ends without an answer", "http", says(200, EVENTS, ": hello\n\n"), /the connection ended before its answer/],
    ["hangs up", "http", (request) => request.socket.destroy(), /the connection was (?:cut|reset)/],
    ["hangs up", "sse", (request) => request.socket.destroy(), /the connection was (?:cut|reset)/],
  ])("when it %s (%s)", async (_what, type, handler, said) => {
    await using server = await listen(handler);
    const { code, message } = await refusal({ type, url: `${server.origin}/mcp`, headers });
    expect(code).toBe("engine_failed");
    expect(message).toMatch(/^The MCP server desk cannot be used: /);
    expect(message).toMatch(said);
    expect(message).not.toContain(server.origin);
  });

  test("when no header is set and it wants one", async () => {
    await using server = await listen(says(401));
    const { message } = await refusal({ type: "http", url: server.origin, headers: {} });
    expect(message).toContain("Capstan sent no headers. Check mcp_servers.desk.headers.");
  });

  test.each(["http", "sse"] as const)("when nothing listens there (%s)", async (type) => {
    const { origin, [Symbol.asyncDispose]: close } = await listen(says(200));
    await close();
    const { message } = await refusal({ type, url: origin, headers });
    expect(message).toMatch(
      /nothing is listening at its address \(connection refused\)\. Check mcp_servers\.desk\.url\./,
    );
  });

  test("when its name is not known", async () => {
    const { message } = await refusal({ type: "http", url: "http://desk.invalid/mcp", headers });
    expect(message).toMatch(/its host name (?:does not exist|cannot be resolved right now)\./);
  });

  test("when it does not speak TLS", async () => {
    await using server = await listen(says(200));
    const { message } = await refusal({ type: "http", url: server.origin.replace("http:", "https:"), headers });
    expect(message).toMatch(
      /the TLS connection failed \(\w+\)\. Check whether mcp_servers\.desk\.url must start with http:\/\/\./,
    );
  });
});

test("a server that never says where to send requests is given up after a minute", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await using server = await listen(
      (_request, response) => void response.writeHead(200, EVENTS).write(": hello\n\n"),
    );
    const refused = refusal({ type: "sse", url: server.origin, headers });
    while (server.requests.length === 0) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await refused).message).toMatch(
      /it does not answer\. Check mcp_servers\.desk\.url and mcp_servers\.desk\.type\./,
    );
  } finally {
    vi.useRealTimers();
  }
});

test.each(["http", "sse"] as const)("no other host is sent the headers by a redirect (%s)", async (type) => {
  await using elsewhere = await listen(says(200));
  await using server = await listen(says(307, { location: `${elsewhere.origin}/other?key=1` }));
  const { message } = await refusal({ type, url: `${server.origin}/mcp`, headers });
  expect(message).toBe(
    `The MCP server desk cannot be used: it redirects to another host, which would receive the headers. If you trust ${elsewhere.origin}/other, use that address in mcp_servers.desk.url.`,
  );
  expect(elsewhere.requests).toEqual([]);
});

test("a redirect on the same host is followed", async () => {
  const paths: (string | undefined)[] = [];
  await using server = await listen((request, response) => {
    paths.push(request.url);
    const isOld = request.url === "/old";
    response.writeHead(isOld ? 307 : 401, isOld ? { location: "/new" } : {}).end();
  });
  expect((await refusal({ type: "http", url: `${server.origin}/old`, headers })).message).toContain("answered 401");
  expect(paths).toEqual(["/old", "/new"]);
});

/** A server that lists just these tools, as they are. */
const listing =
  (tools: readonly object[], pageSize = tools.length) =>
  () => {
    const mcp = new McpServer({ name: "desk", version: "1" }, { capabilities: { tools: {} } });
    const server: Server = mcp.server;
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      const from = Number(params?.cursor ?? 0);
      const to = from + pageSize;
      const page = tools.slice(from, to) as { name: string; inputSchema: { type: "object" } }[];
      return { tools: page, ...(to < tools.length && { nextCursor: String(to) }) };
    });
    return mcp;
  };

const tool = (name: string, schema: object = {}): object => ({ name, inputSchema: { type: "object", ...schema } });

describe("what a server offers", () => {
  test("may be 500 tools, in pages", async () => {
    const tools = Array.from({ length: 500 }, (_, index) => tool(`tool-${index}`));
    await using remote = await remoteMcp("http", listing(tools, 100));
    const { close } = await connect({ ...remote.server, tools: { "tool-499": "deny" } });
    await close();
  });

  test("must be what the agent speaks of", async () => {
    await using remote = await remoteMcp("http", listing([tool("delete"), tool("list")]));
    const { code, message } = await refusal({
      ...remote.server,
      tools: { delte: "deny", archive: "ask", "*": "allow" },
    });
    expect(code).toBe("invalid_agent");
    expect(message).toBe(
      "mcp_servers.desk.tools.delte: the server has no such tool; did you mean delete?\nmcp_servers.desk.tools.archive: the server has no such tool. It has delete, list",
    );
  });

  test("must be something", async () => {
    await using remote = await remoteMcp("http", listing([]));
    expect((await refusal(remote.server)).message).toBe(
      "The MCP server desk offers no tools. Fix the server, or remove it from mcp_servers.",
    );
  });

  test("must be a list of tools", async () => {
    await using remote = await remoteMcp("http", listing([{ name: "half" }]));
    expect((await refusal(remote.server)).message).toMatch(/its answer is not MCP/);
  });

  test("and the model API would refuse is named, and left out when the agent may not use it anyway", async () => {
    await using remote = await remoteMcp("http", listing([tool("good"), tool("bad", { anyOf: [{}] })]));
    expect((await refusal(remote.server)).message).toBe(
      "The MCP server desk has tools that cannot be offered to the model: bad (its input schema has anyOf at the top level, which the model API refuses). Fix the server, or exclude such a tool: mcp_servers.desk.tools.<name>: deny.",
    );
    const { close } = await connect({ ...remote.server, tools: { bad: "deny" } });
    await close();
  });
});

test("a server that fails in the beginning has no session left behind", async () => {
  await using remote = await remoteMcp("http", listing([]));
  await refusal(remote.server);
  expect(remote.sessions()).toBe(0);
});
