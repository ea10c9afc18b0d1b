import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkAgent } from "../../src/app/check/check-stored-agent.ts";
import { type EnvironmentInput, parseEnvironment } from "../../src/core/environment/environment.ts";
import type { ApiDeps } from "../../src/server/api/deps.ts";
import { type People, people } from "../support/api-people.ts";
import { everythingRemote } from "../support/mcp-everything.ts";
import { temporaryDirectory } from "../support/host.ts";
import { sandboxTest } from "../support/hostile-world.ts";

const home = temporaryDirectory();
const TOKEN = "hush-hush-hush-4711";

const checkIn =
  (sandbox: EnvironmentInput["sandbox"]): NonNullable<ApiDeps["checkAgent"]> =>
  (agent, { signal }) => {
    const environment = { PATH: process.env["PATH"], ANTHROPIC_API_KEY: "sk-ant-api03-x", OFFICE_TOKEN: TOKEN };
    return checkAgent(agent, {
      environment,
      place: parseEnvironment({ ...(sandbox && { sandbox }) }),
      home: home.path,
      capstanHome: join(home.path, ".capstan"),
      secretFiles: [],
      signal,
      credentials: { home: join(home.path, ".capstan"), environment },
    });
  };

let all: People;
beforeAll(async () => {
  all = await people({ ports: { checkAgent: checkIn({ mode: "off" }) } });
});
afterAll(async () => {
  await all.api[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

const SERVER = fileURLToPath(new URL("../support/mcp-server.ts", import.meta.url));
const office = { command: process.execPath, args: [SERVER] };
const left = (): readonly string[] => readdirSync(tmpdir()).filter((name) => name.startsWith("capstan-check-"));

/** Leftovers of killed tests. */
const before = left();

async function storeAgent(definition: object): Promise<string> {
  const full = { name: "clerk", model: "claude-opus-4-8", ...definition };
  const { status, body } = await all.admin.post("/api/agents", { definition: full });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}

test("reports a valid agent as valid, with the tools of its servers", async () => {
  await using remote = await everythingRemote("http");
  const seen = join(home.path, "seen.json");
  const env = { OFFICE_TOKEN: "${OFFICE_TOKEN}", SEEN_ENVIRONMENT: seen };
  const id = await storeAgent({ mcp_servers: { office: { ...office, env }, everything: remote.server } });
  const { status, body } = await all.operator.post(`/api/agents/${id}/check`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ agent_id: id, version: 1, valid: true, problems: [], notes: [] });
  expect(body.mcp_servers).toMatchObject([
    { name: "office", type: "stdio", connected: true, error: null, tools: expect.arrayContaining(["act", "book"]) },
    { name: "everything", type: "http", connected: true, error: null, tools: expect.arrayContaining(["echo"]) },
  ]);
  expect(existsSync(seen)).toBe(true);
  expect(left()).toEqual(before);
});

test("reports why each unusable server fails, and still checks the others", async () => {
  const id = await storeAgent({
    mcp_servers: {
      office: { ...office, tools: { acct: "deny" } },
      absent: { command: "no-such-program" },
      silent: { command: "/bin/true" },
      nowhere: { type: "http", url: "http://127.0.0.1:9/mcp", headers: { authorization: `Bearer ${TOKEN}` } },
      unset: { ...office, env: { KEY: "${NOT_SET_ANYWHERE}" } },
    },
  });
  const { body } = await all.operator.post(`/api/agents/${id}/check`);
  expect(body.valid).toBe(false);
  const [first, ...others] = body.mcp_servers;
  expect(first).toMatchObject({ connected: true, error: expect.stringContaining("did you mean act?") });
  expect(others.map(({ name, connected }: { name: string; connected: boolean }) => [name, connected])).toEqual([
    ["absent", false],
    ["silent", false],
    ["nowhere", false],
    ["unset", false],
  ]);
  for (const { error, tools } of others) expect([error, tools]).toEqual([expect.stringMatching(/\w{4}/), []]);
  expect(others[0].error).toContain("no-such-program was not found");
  expect(others[1].error).toContain(
    "silent (MCP error -32000: Connection closed) did not start. Run its command by hand",
  );
  expect(others[3].error).toContain("NOT_SET_ANYWHERE");
  expect(JSON.stringify(body)).not.toContain(TOKEN);
  expect(left()).toEqual(before);
});

test("reports problems of the definition, and what may be unexpected", async () => {
  const functions = await storeAgent({ functions: [{ module: "/srv/tools.ts" }], auth: "vertex" });
  const surprising = (await all.operator.post(`/api/agents/${functions}/check`)).body;
  expect(surprising).toMatchObject({ valid: true, problems: [], mcp_servers: [] });
  expect(surprising.notes.join("\n")).toMatch(
    /vertex lacks ANTHROPIC_VERTEX_PROJECT_ID[\s\S]*functions were not loaded/,
  );
  const wrong = await storeAgent({ tools: ["Bsh"], output_schema: { type: "objekt" } });
  const { body } = await all.operator.post(`/api/agents/${wrong}/check`);
  expect(body.valid).toBe(false);
  expect(body.problems.join("\n")).toMatch(/output_schema: [\s\S]*unknown tool "Bsh"/);
});

sandboxTest("a program is tried in the sandbox of the project's environment", async () => {
  const outside = join(home.path, "outside.json");
  const { apiApp } = await import("../support/api-app.ts");
  await using api = await apiApp({ ports: { checkAgent: checkIn({ mode: "required", allow_read: [resolve(".")] }) } });
  const env = { SEEN_ENVIRONMENT: outside };
  const definition = { name: "clerk", model: "claude-opus-4-8", mcp_servers: { office: { ...office, env } } };
  const { body: made } = await (await api.as("admin")).post("/api/agents", { definition });
  const check = async () => (await (await api.as("operator")).post(`/api/agents/${made.id}/check`)).body.mcp_servers;
  // It exits if it cannot write there.
  expect(await check()).toMatchObject([{ connected: false }]);
  expect(existsSync(outside)).toBe(false);
  const plain = { ...definition, mcp_servers: { office } };
  await (await api.as("admin")).send("PUT", `/api/agents/${made.id}`, { definition: plain });
  expect(await check()).toMatchObject([{ connected: true, tools: expect.arrayContaining(["act"]) }]);
  expect(left()).toEqual(before);
});

test("operators of the project can check an agent", async () => {
  const { viewer, stranger, operator } = all;
  const id = await storeAgent({});
  expect((await viewer.post(`/api/agents/${id}/check`)).status).toBe(403);
  expect((await stranger.post(`/api/agents/${id}/check`)).status).toBe(404);
  expect((await operator.post(`/api/agents/${id}/check?version=2`)).status).toBe(404);
});

test("lists an agent's versions, newest first, without secrets", async () => {
  const { admin, viewer, stranger } = all;
  const env = { OFFICE_TOKEN: TOKEN };
  const id = await storeAgent({ mcp_servers: { office: { ...office, env } } });
  for (const model of ["m2", "m3"]) await admin.send("PUT", `/api/agents/${id}`, { definition: { name: "a", model } });
  const versions = async (query = "") => (await viewer.get(`/api/agents/${id}/versions${query}`)).body.data;
  const all3 = await versions();
  expect(all3.map(({ version, id: its }: { version: number; id: string }) => [its, version])).toEqual([
    [id, 3],
    [id, 2],
    [id, 1],
  ]);
  expect(JSON.stringify(all3)).not.toContain(TOKEN);
  expect(await versions("?limit=1&before=3")).toEqual([all3[1]]);
  expect((await viewer.get(`/api/agents/${id}/versions?limit=0`)).status).toBe(400);
  expect((await stranger.get(`/api/agents/${id}/versions`)).status).toBe(404);
});
