import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type GrantedCall, serveOneCall } from "../../src/mcp/remote/loopback.ts";
import { fittingTools } from "../../src/mcp/remote/tools.ts";
import { networkCode, troubleWords } from "../../src/mcp/remote/trouble.ts";

const tool = (name: string, schema: object = {}): Tool => ({ name, inputSchema: { type: "object", ...schema } });

describe("a tool of a server", () => {
  test.each<[what: string, Tool]>([
    ["a plain one", tool("list")],
    ["with signs that become _", tool("files.list/all ümläut")],
    ["as long as it may be", tool("x".repeat(117))],
    [
      "of another dialect",
      tool("a", { $schema: "http://json-schema.org/draft-07/schema#", properties: { a: { type: "string" } } }),
    ],
    [
      "with a keyword of the server's own",
      tool("a", { "x-order": 1, properties: { "a.b-c_1": { anyOf: [{}, true] } } }),
    ],
  ])("can be offered: %s", (_what, given) => {
    expect(fittingTools("desk", [given])).toEqual({ fit: [given], unfit: [] });
  });

  test.each<[given: Tool, problem: RegExp]>([
    [tool("x".repeat(118)), /^its name for the model has 129 characters; the limit is 128$/],
    [tool("a", { oneOf: [{}] }), /^its input schema has oneOf at the top/],
    [tool("a", { properties: { "a b": {} } }), /^the model API refuses the field name "a b"$/],
    [tool("a", { properties: { ["k".repeat(65)]: {} } }), /field name/],
    [tool("a", { properties: { a: { type: "strin" } } }), /not valid as draft 2020-12: \/properties\/a\/type/],
    [tool("a", { properties: { a: { minimum: 1, exclusiveMinimum: true } } }), /\/properties\/a\/exclusiveMinimum/],
  ])("cannot be offered", (given, problem) => {
    expect(fittingTools("desk", [given])).toEqual({
      fit: [],
      unfit: [{ name: given.name, problem: expect.stringMatching(problem) }],
    });
  });

  test("cannot be told from another of the same name", () => {
    expect(fittingTools("desk", [tool("a.b"), tool("a_b")]).unfit).toEqual([
      { name: "a_b", problem: "it has the same name as a.b for the model: mcp__desk__a_b" },
    ]);
  });
});

const failed = (code: string): Error => Object.assign(new Error(code), { code });

describe("what is said about a connection", () => {
  test.each([
    ["DEPTH_ZERO_SELF_SIGNED_CERT", /its certificate is not trusted .*NODE_EXTRA_CA_CERTS/],
    ["CERT_HAS_EXPIRED", /its certificate is not trusted/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /its certificate is not trusted/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /its certificate is not trusted/],
    ["UND_ERR_CONNECT_TIMEOUT", /it did not answer in time/],
    ["EWHATEVER", /it cannot be reached \(EWHATEVER\)/],
  ])("%s", (code, said) => {
    const cause = Object.assign(new Error("https://10.0.0.1 refused"), { code });
    const found = networkCode(new TypeError("fetch failed", { cause }));
    const { what, remedy } = troubleWords(
      { kind: "network", code: found },
      { name: "desk", server: { type: "http", headers: {} } },
    );
    expect(`${what}. ${remedy}`).toMatch(said);
    expect(`${what}. ${remedy}`).not.toContain("10.0.0.1");
  });

  test("of several addresses that were tried, the last one's code is told", () => {
    const cause = new AggregateError([failed("ENETUNREACH"), failed("ECONNREFUSED")]);
    expect(networkCode(new TypeError("fetch failed", { cause }))).toBe("ECONNREFUSED");
  });
});

const CALL = { "claudecode/toolUseId": "toolu_1" };

const GRANTED: GrantedCall = { callId: "toolu_1", tool: "mcp__desk__work", input: { what: "this", times: [1] } };

interface Lent {
  readonly client: Client;
  readonly url: string;
  readonly runs: () => number;
  readonly close: () => Promise<void>;
}

async function lendServer(granted: () => GrantedCall | undefined = () => GRANTED): Promise<Lent> {
  const server = new McpServer({ name: "desk", version: "1" });
  let runs = 0;
  const run = () => {
    runs++;
    return { content: [{ type: "text" as const, text: "worked" }] };
  };
  for (const name of ["work", "wreck"]) server.registerTool(name, { inputSchema: z.looseObject({}) }, run);
  const { url, close } = await serveOneCall(server, { server: "desk", callId: "toolu_1", grantedCall: granted });
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, url, runs: () => runs, close };
}

describe("a server that is lent for one call", () => {
  test("runs that one, once", async () => {
    const { client, runs, close } = await lendServer();
    expect((await client.listTools()).tools).toHaveLength(2);
    const call = (_meta: Record<string, unknown>) => client.callTool({ name: "work", arguments: GRANTED.input, _meta });
    await expect(call({})).rejects.toThrow();
    await expect(call({ "claudecode/toolUseId": "toolu_2" })).rejects.toThrow();
    expect(runs()).toBe(0);
    expect(await call(CALL)).toMatchObject({ content: [{ text: "worked" }] });
    await expect(call(CALL)).rejects.toThrow();
    expect(runs()).toBe(1);
    await close();
    await expect(call(CALL)).rejects.toThrow();
  });

  test("runs it only as it was let through, and not before", async () => {
    let granted: GrantedCall | undefined;
    const { client, runs, close } = await lendServer(() => granted);
    const right = { name: "work", arguments: { times: [1], what: "this" }, _meta: CALL };
    await expect(client.callTool(right)).rejects.toThrow();
    granted = { ...GRANTED, callId: "toolu_2" };
    await expect(client.callTool(right)).rejects.toThrow();
    granted = GRANTED;
    await expect(client.callTool({ ...right, name: "wreck" })).rejects.toThrow();
    for (const input of [undefined, {}, { what: "this" }, { what: "that", times: [1] }, { ...GRANTED.input, more: 1 }])
      await expect(client.callTool({ ...right, arguments: input })).rejects.toThrow();
    expect(runs()).toBe(0);
    expect(await client.callTool(right)).toMatchObject({ content: [{ text: "worked" }] });
    expect(runs()).toBe(1);
    await close();
  });

  test("is there for nobody who does not know its address", async () => {
    const { url, close } = await lendServer();
    expect((await fetch(new URL("/", url), { method: "POST", body: "{}" })).status).toBe(404);
    expect((await fetch(url.slice(0, -1), { method: "POST", body: "{}" })).status).toBe(404);
    expect((await fetch(url, { method: "POST", body: "[]" })).status).toBe(403);
    await close();
  });
});
