import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type People, people } from "../support/api-people.ts";

let all: People;
beforeAll(async () => {
  all = await people();
});
afterAll(() => all.api[Symbol.asyncDispose]());

const definition = {
  name: "reviewer",
  model: "claude-opus-4-8",
  instructions: "Review.",
  tools: ["Read", "Bash"],
  permissions: { mode: "plan", allow: ["Read"], deny: ["Bash(rm *)"] },
  mcp_servers: { office: { command: "office", env: { OFFICE_TOKEN: "hush-hush-hush", LEVEL: "2" } } },
  output_schema: { type: "object" },
  hooks: { before_tool: [{ command: "true" }] },
};

test("an agent is created from a full definition, shown without its secrets, and used by its id", async () => {
  const { admin, viewer, operator, api } = all;
  const made = await admin.post("/api/agents", { definition, description: "reads", metadata: { team: "core" } });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ version: 1, name: "reviewer", description: "reads", metadata: { team: "core" } });
  const { id } = made.body;
  const shown = await viewer.get(`/api/agents/${id}`);
  expect(shown.body.definition).toMatchObject({
    permissions: { mode: "plan", deny: ["Bash(rm *)"] },
    output_schema: { type: "object" },
    mcp_servers: { office: { command: "office", env: { OFFICE_TOKEN: "[redacted:OFFICE_TOKEN]", LEVEL: "2" } } },
    hooks: { before_tool: [{ command: "true" }] },
  });
  expect((await viewer.get("/api/agents")).body.data).toMatchObject([{ id }]);
  expect((await api.store.registry.agents.get(api.project, id))?.definition.mcp_servers?.["office"]).toMatchObject({
    env: { OFFICE_TOKEN: "hush-hush-hush", LEVEL: "2" },
  });
  const plain = await admin.post("/api/agents", { definition: { name: "plain", model: "claude-opus-4-8" } });
  const started = await operator.post("/api/sessions", { agent: { id: plain.body.id } });
  expect(started.body).toMatchObject({ agent: { name: "plain" }, agent_ref: { id: plain.body.id, version: 1 } });
});

test("a new version keeps secrets that are sent back as shown", async () => {
  const { admin, viewer, api } = all;
  const { body: first } = await admin.post("/api/agents", { definition });
  const changed = { ...first.definition, model: "claude-haiku-4-5" };
  const second = await admin.send("PUT", `/api/agents/${first.id}`, { definition: changed, version: 1 });
  expect(second.body).toMatchObject({ id: first.id, version: 2, definition: { model: "claude-haiku-4-5" } });
  expect(second.body.created_at).toBe(first.created_at);
  const stored = await api.store.registry.agents.get(api.project, first.id);
  expect(stored?.definition.mcp_servers?.["office"]).toMatchObject({ env: { OFFICE_TOKEN: "hush-hush-hush" } });
  expect((await viewer.get(`/api/agents/${first.id}?version=1`)).body.definition.model).toBe("claude-opus-4-8");
  expect((await viewer.get(`/api/agents/${first.id}?version=9`)).status).toBe(404);

  const late = await admin.send("PUT", `/api/agents/${first.id}`, { definition: changed, version: 1 });
  expect(late.status).toBe(409);
  expect(late.body.error.message).toContain("version 2");
  const other = { ...definition, mcp_servers: { desk: { command: "desk", env: { KEY: "[redacted:KEY]" } } } };
  const refused = await admin.send("PUT", `/api/agents/${first.id}`, { definition: other });
  expect(refused.body.error.message).toContain("definition.mcp_servers.desk.env.KEY");
});

test("a secret that is sent back as shown goes only to its previous receiver", async () => {
  const { admin, api } = all;
  const far = { type: "http", url: "https://desk.example/mcp", headers: { Authorization: "Bearer hush-hush-hush" } };
  const near = { command: "office", args: ["--all"], env: { OFFICE_TOKEN: "hush-hush-hush" } };
  const { body: first } = await admin.post("/api/agents", {
    definition: { ...definition, mcp_servers: { far, near } },
  });
  const shown = first.definition.mcp_servers;
  const put = (changed: object) => {
    const mcp_servers = { ...shown, ...changed };
    return admin.send("PUT", `/api/agents/${first.id}`, { definition: { ...first.definition, mcp_servers } });
  };
  for (const changed of [
    { far: { ...shown.far, url: "https://elsewhere.example/mcp" } },
    { far: { ...shown.far, url: "http://desk.example/mcp" } },
    { far: { ...shown.far, url: "https://desk.example:444/mcp" } },
    { far: { ...shown.far, type: "sse" } },
    { near: { ...shown.near, command: "other" } },
    { near: { ...shown.near, args: ["--all", "--to=elsewhere"] } },
    { near: { type: "http", url: far.url, headers: shown.near.env } },
  ]) {
    const { status, body } = await put(changed);
    expect([changed, status]).toEqual([changed, 400]);
    expect(body.error.message).toMatch(
      /^definition\.mcp_servers\.(far\.headers|near\.env|near\.headers)\.\w+: .* Enter the value itself\.$/,
    );
  }
  const kept = await put({
    far: { ...shown.far, url: "https://DESK.example:443/other" },
    near: { ...shown.near, type: "stdio" },
  });
  expect(kept.status).toBe(200);
  expect((await api.store.registry.agents.get(api.project, first.id))?.definition.mcp_servers).toMatchObject({
    far: { headers: far.headers },
    near: { env: near.env },
  });
});

test("only admins create agents, and only from valid definitions", async () => {
  const { admin, operator, viewer } = all;
  expect((await operator.post("/api/agents", { definition })).status).toBe(403);
  expect((await viewer.post("/api/agents", { definition })).status).toBe(403);
  const refused = async (body: unknown): Promise<string> => {
    const answer = await admin.post("/api/agents", body);
    expect(answer.status).toBe(400);
    return answer.body.error.message as string;
  };
  expect(await refused({})).toContain("definition");
  expect(await refused({ definition: { name: "x" } })).toContain("definition.model");
  expect(await refused({ definition: { ...definition, permissions: { mode: "wild" } } })).toContain(
    "definition.permissions.mode",
  );
  expect(await refused({ definition: { ...definition, permissions: { deny: ["Bsh(rm *)"] } } })).toContain("Bsh");
  expect(await refused({ definition, colour: "red" })).toContain('"colour"');
});

test("an environment has a definition and an existing directory", async () => {
  const { admin, operator, viewer, api } = all;
  const directory = join(api.cwd, "place");
  mkdirSync(directory);
  const wanted = {
    variables: { DB_PASSWORD: "hush-hush-hush", LEVEL: "2" },
    workspace: { kind: "copy", mounts: [{ source: "." }] },
  };
  const made = await admin.post("/api/environments", { name: "place", definition: wanted, directory });
  expect(made.status).toBe(201);
  const { id } = made.body;
  const shown = (await viewer.get(`/api/environments/${id}`)).body;
  expect(shown).toMatchObject({ name: "place", directory, definition: { workspace: { kind: "copy" } } });
  expect(shown.definition.variables).toEqual({ DB_PASSWORD: "[redacted:DB_PASSWORD]", LEVEL: "2" });
  expect((await viewer.get("/api/environments")).body.data).toMatchObject([{ id }]);
  const renamed = await admin.send("PUT", `/api/environments/${id}`, {
    name: "renamed",
    definition: shown.definition,
    directory,
  });
  expect(renamed.body.name).toBe("renamed");
  const stored = await api.store.registry.environments.get(api.project, id);
  expect(stored?.definition.variables["DB_PASSWORD"]).toBe("hush-hush-hush");
  const started = await operator.post("/api/sessions", { environment_id: id });
  expect(started.body).toMatchObject({ environment_id: id, source: directory });
});

test("only admins create environments, with existing absolute directories", async () => {
  const { admin, operator, api } = all;
  const refused = async (directory: string): Promise<string> => {
    const answer = await admin.post("/api/environments", { name: "x", definition: {}, directory });
    expect(answer.status).toBe(400);
    return answer.body.error.message as string;
  };
  expect(await refused("relative")).toContain("absolute");
  expect(await refused(join(api.cwd, "not-there"))).toContain("does not exist on the server's machine");
  expect((await operator.post("/api/environments", { name: "x", definition: {} })).status).toBe(403);
  expect(
    (await admin.post("/api/environments", { name: "x", definition: { sandbx: {} } })).body.error.message,
  ).toContain("sandbx");
});

test("admins create, list and revoke keys of their project", async () => {
  const { admin, operator, stranger, api } = all;
  const made = await admin.post("/api/keys", { name: "ci", role: "operator" });
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ name: "ci", role: "operator", revoked_at: null });
  const { id, key } = made.body as { id: string; key: string };
  const listed = (await admin.get("/api/keys")).body.data as { id: string }[];
  expect(listed.map((one) => one.id)).toContain(id);
  expect(JSON.stringify(listed)).not.toContain(key);
  const whoami = (): Promise<Response> =>
    Promise.resolve(api.app.request("/api/whoami", { headers: { "x-api-key": key } }));
  expect(await (await whoami()).json()).toEqual({ id, name: "ci", role: "operator", project: api.project });

  expect((await stranger.send("DELETE", `/api/keys/${id}`)).status).toBe(404);
  expect(((await stranger.get("/api/keys")).body.data as { id: string }[]).map((one) => one.id)).not.toContain(id);
  for (const [method, path] of [
    ["GET", "/api/keys"],
    ["POST", "/api/keys"],
    ["DELETE", `/api/keys/${id}`],
  ] as const)
    expect(
      (await operator.send(method, path, method === "POST" ? { name: "x", role: "admin" } : undefined)).status,
    ).toBe(403);
  expect((await admin.send("DELETE", `/api/keys/${id}`)).body.revoked_at).not.toBeNull();
  expect((await admin.send("DELETE", `/api/keys/${id}`)).status).toBe(200);
  expect((await whoami()).status).toBe(401);
  expect((await admin.post("/api/keys", { name: "x", role: "owner" })).body.error.message).toContain("role");
});

test("agents and environments of another project are not found", async () => {
  const { admin, stranger } = all;
  const { body: agent } = await admin.post("/api/agents", { definition });
  const { body: environment } = await admin.post("/api/environments", { name: "x", definition: {} });
  for (const path of [`/api/agents/${agent.id}`, `/api/environments/${environment.id}`]) {
    expect((await stranger.get(path)).status).toBe(404);
    expect(
      (await stranger.send("PUT", path, { definition: path.includes("agents") ? definition : {}, name: "y" })).status,
    ).toBe(404);
  }
  expect((await stranger.get("/api/agents")).body.data).toEqual([]);
  expect((await stranger.get("/api/environments")).body.data).toEqual([]);
  expect((await stranger.post("/api/sessions", { agent: { id: agent.id } })).status).toBe(404);
  expect((await stranger.post("/api/sessions", { environment_id: environment.id })).status).toBe(404);
});
