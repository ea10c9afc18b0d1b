import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { providerStatuses, credentialToWire } from "../../src/app/credentials/credential-status.ts";
import { CapstanError } from "../../src/core/errors.ts";
import { type People, people, session } from "../support/api-people.ts";
import { order } from "../support/obedient-model.ts";

let all: People;
beforeAll(async () => {
  all = await people({ agent: { permissions: { allow: ["Bash(echo *)"], deny: ["Bash(rm *)"] } } });
});
afterAll(() => all.api[Symbol.asyncDispose]());

test("returns the caller and their project's directory", async () => {
  const { viewer, stranger, api } = all;
  expect((await viewer.get("/api/whoami")).body).toMatchObject({ role: "viewer", project: api.project });
  expect((await viewer.get("/api/projects")).body.data).toEqual([{ id: api.project, directory: api.cwd }]);
  expect((await stranger.get("/api/projects")).body.data).toHaveLength(1);
  expect((await viewer.get("/api/models")).body.data).toEqual([{ id: "claude-opus-4-8", display_name: "Opus" }]);
});

test("without a credential, lists the models that Capstan knows", async () => {
  const { apiApp } = await import("../support/api-app.ts");
  await using bare = await apiApp({
    ports: { models: () => Promise.reject(new CapstanError("credential_missing", "There is no key.")) },
  });
  const { status, body } = await (await bare.as("viewer")).get("/api/models");
  expect(status).toBe(200);
  expect(body.data).toContainEqual(expect.objectContaining({ id: "claude-opus-4-8", display_name: "Claude Opus 4.8" }));
});

test("checks a call against the project's agent, a saved one and an inline one", async () => {
  const { operator, admin, api } = all;
  const check = async (body: object) => (await operator.post("/api/policy/check", body)).body;
  const denied = await check({ call: "Bash(rm -rf build)" });
  expect(denied).toMatchObject({ behavior: "deny", decided_by: "rule:deny Bash(rm *)", mode: "normal" });
  expect(denied.steps.at(-1)).toEqual({ step: "deny rules", found: "decided" });
  expect(await check({ call: "Bash(ls)" })).toMatchObject({ behavior: "ask", remembers: ["Bash(ls)"] });
  expect(await check({ call: "Bash(ls)", mode: "yolo" })).toMatchObject({ behavior: "allow", decided_by: "mode:yolo" });
  const definition = { name: "open", model: "m", tools: ["Bash"], permissions: { allow: ["Bash(rm *)"] } };
  expect(await check({ call: "Bash(rm x)", agent_definition: definition })).toMatchObject({ behavior: "allow" });
  const { body: stored } = await admin.post("/api/agents", { definition });
  expect(await check({ call: "Bash(rm x)", agent: { id: stored.id } })).toMatchObject({ behavior: "allow" });
  const tool = { name: "lookup", description: "Looks up.", input_schema: { type: "object" } };
  const clerk = { name: "clerk", model: "m", custom_tools: [tool] };
  expect(await check({ call: "lookup", agent_definition: clerk })).toMatchObject({ kind: "custom_tool" });
  expect((await check({ call: "Read(a.txt)" })).subject.paths[0].named).toBe(join(api.cwd, "a.txt"));
  expect((await check({ call: "((" })).error.message).toContain("is not a tool call");
  expect((await check({ call: "Bash(ls)", cwd: "/" })).error.type).toBe("permission_error");
});

test("replays the project's decisions with different rules", async () => {
  const { operator, viewer, stranger } = all;
  const id = await session(operator, order(["Bash", { command: "echo hi" }], ["Bash", { command: "rm -rf x" }]));
  const permissions = { allow: ["Bash(rm *)"], deny: ["Bash(echo *)"] };
  const { body } = await viewer.post("/api/policy/replay", { permissions });
  expect(body.data).toMatchObject([
    { session_id: id, about: "echo hi", before: "allow", now: "deny", changed: true },
    { session_id: id, about: "rm -rf x", before: "deny", now: "allow", changed: true },
  ]);
  const one = await viewer.post("/api/policy/replay", { permissions, session_id: id });
  expect(one.body).toEqual(body);
  expect((await stranger.post("/api/policy/replay", { permissions })).body.data).toEqual([]);
  expect((await stranger.post("/api/policy/replay", { permissions, session_id: id })).status).toBe(404);
  const later = new Date(Date.now() + 60_000).toISOString();
  expect((await viewer.post("/api/policy/replay", { permissions, since: later })).body.data).toEqual([]);
  const wrong = await viewer.post("/api/policy/replay", { permissions: { deny: ["Bsh(x)"] } });
  expect(wrong.body.error.message).toContain("Bsh");
});

test("reports one project's spending by session, agent and day", async () => {
  const { operator, viewer, stranger } = all;
  const id = await session(operator, "hello");
  const by = async (what: string) => (await viewer.get(`/api/ledger?by=${what}`)).body;
  const sessions = await by("session");
  expect(sessions.data[0]).toMatchObject({ key: id, billing: "paid" });
  expect(sessions.data[0].requests).toBeGreaterThan(0);
  expect((await by("agent")).data[0].key).toBe("tester");
  const days = (await viewer.get("/api/ledger")).body;
  expect(days).toMatchObject({ by: "day", time_zone: "Europe/Berlin" });
  expect((await viewer.get("/api/ledger?time_zone=UTC")).body.time_zone).toBe("UTC");
  expect((await stranger.get("/api/ledger")).body.data).toEqual([]);
  const later = new Date(Date.now() + 60_000).toISOString();
  expect((await viewer.get(`/api/ledger?since=${later}`)).body.data).toEqual([]);
  expect((await viewer.get("/api/ledger?by=mood")).body.error.message).toContain("by");
  expect((await viewer.get("/api/ledger?time_zone=Mars")).body.error.message).toContain("time zone");
});

test("the parts of divided ledger lines add up", async () => {
  const { operator, viewer, stranger } = all;
  await session(operator, order(["Bash", { command: "echo hi" }]));
  const [day] = (await viewer.get("/api/ledger")).body.data;
  expect(day.part).toBeNull();
  const divided = (await viewer.get("/api/ledger?by=day&split=tool")).body;
  expect(divided).toMatchObject({ by: "day", split: "tool" });
  const lines = divided.data as { key: string; part: string; requests: number }[];
  expect(lines.map(({ part }) => part)).toEqual(expect.arrayContaining(["Bash", "(message)"]));
  expect(lines.reduce((sum, { requests }) => sum + requests, 0)).toBe(day.requests);
  expect((await stranger.get("/api/ledger?by=day&split=agent")).body.data).toEqual([]);
  const refused = async (query: string): Promise<string> => {
    const { status, body } = await viewer.get(`/api/ledger?${query}`);
    expect(status).toBe(400);
    return body.error.message as string;
  };
  expect(await refused("by=agent&split=agent")).toContain("omit split");
  expect(await refused("by=tool&split=agent")).toContain("by=agent&split=tool");
  expect(await refused("split=day")).toContain("split");
});

test("reports limits with what the host counts against them, in the caller's project", async () => {
  const { operator, viewer, stranger, api } = all;
  await session(operator, "hello");
  const [{ usd }] = (await viewer.get("/api/ledger")).body.data;
  const { settings, lines } = (await viewer.get("/api/budgets")).body;
  expect(settings).toEqual({ day: { usd: 5, time_zone: "Europe/Berlin" } });
  const line = { scope: "day", which: "usd", limit: 5, reserved: 0, day: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) };
  expect(lines).toEqual([{ ...line, name: api.project, spent: expect.any(Number), left: expect.any(Number) }]);
  expect(lines[0].spent).toBeCloseTo(usd, 9);
  expect(lines[0].left).toBeCloseTo(5 - usd, 9);
  expect((await stranger.get("/api/budgets")).body.lines).toMatchObject([{ spent: 0, left: 5 }]);
});

test("reports limits of agents and of the project, and none if there are none", async () => {
  const { apiApp } = await import("../support/api-app.ts");
  const budgets = { project: { usd: 2, tool_calls: 3, deadline_ms: 1_000 }, agents: { clerk: { tokens: 9 } } };
  await using limited = await apiApp({ ports: { budgets } });
  const name = limited.project;
  const none = { spent: 0, reserved: 0 };
  expect((await (await limited.as("viewer")).get("/api/budgets")).body.lines).toEqual([
    { scope: "agent", name: "clerk", which: "tokens", limit: 9, ...none, left: 9 },
    { scope: "project", name, which: "usd", limit: 2, ...none, left: 2 },
    { scope: "project", name, which: "tool_calls", limit: 3, ...none, left: 3 },
  ]);
  await using free = await apiApp({ ports: { budgets: {} } });
  expect((await (await free.as("viewer")).get("/api/budgets")).body).toEqual({ settings: {}, lines: [] });
});

test("shows credentials to operators, without any part of a secret", async () => {
  const { apiApp } = await import("../support/api-app.ts");
  const environment = { ANTHROPIC_API_KEY: "sk-ant-api03-not-to-be-seen-anywhere-9876" };
  const statuses = () => providerStatuses({ home: all.api.home, environment });
  await using api = await apiApp({ ports: { credentials: async () => (await statuses()).map(credentialToWire) } });
  expect((await (await api.as("viewer")).get("/api/credentials")).status).toBe(403);
  const { status, body } = await (await api.as("operator")).get("/api/credentials");
  expect(status).toBe(200);
  expect(body.data[0]).toMatchObject({
    provider: "api_key",
    name: expect.any(String),
    present: true,
    source: expect.stringContaining("ANTHROPIC_API_KEY"),
    active: true,
  });
  expect(body.data.find(({ provider }: { provider: string }) => provider === "vertex")).toMatchObject({
    present: false,
    active: false,
  });
  expect(JSON.stringify(body)).not.toMatch(/sk-ant|9876/);
  const broken = credentialToWire({
    provider: "foundry",
    title: "Foundry",
    isDefault: true,
    isComplete: false,
    found: [],
    missing: [{ what: "A_KEY", how: "set it" }],
    ends: "9876",
  });
  expect(broken).toMatchObject({ present: false, source: null, problem: "it lacks A_KEY: set it" });
  expect(JSON.stringify(broken)).not.toContain("9876");
});

test("an audit covers the project's own sessions, and what is missing", async () => {
  const { operator, viewer, stranger, api } = all;
  const id = await session(operator, "hello");
  const sound = (await viewer.get("/api/audit/verify")).body;
  expect(sound).toMatchObject({ sound: true, findings: [] });
  expect(sound.sessions.map((one: { session_id: string }) => one.session_id)).toContain(id);
  expect((await stranger.get("/api/audit/verify")).body).toMatchObject({ sound: true, sessions: [] });
  expect((await viewer.get(`/api/audit/verify?session_id=${id}`)).body.sessions).toHaveLength(1);
  expect((await stranger.get(`/api/audit/verify?session_id=${id}`)).status).toBe(404);

  using database = new DatabaseSync(join(api.home, "capstan.db"));
  database.exec(`UPDATE events SET event = replace(event, 'hello', 'HELLO') WHERE session_id = '${id}'`);
  const tampered = (await viewer.get("/api/audit/verify")).body;
  expect(tampered.sound).toBe(false);
  expect(tampered.findings).toMatchObject([{ kind: "altered", session_id: id }]);
  expect((await stranger.get("/api/audit/verify")).body.findings).toEqual([]);
});

test("reports unsupported parts of a server by name", async () => {
  const { apiApp } = await import("../support/api-app.ts");
  const ports = { ledger: undefined, audit: undefined, models: undefined, defaults: undefined, archive: undefined };
  await using bare = await apiApp({ ports: { ...ports, policy: undefined, budgets: undefined } });
  const admin = await bare.as("admin");
  for (const path of ["/api/ledger", "/api/audit/verify", "/api/models", "/api/budgets", "/api/credentials"]) {
    const refused = await admin.get(path);
    expect(refused.status).toBe(400);
    expect(refused.body.error.details.error_code).toBe("unsupported");
  }
  const refused = await admin.post("/api/sessions", {});
  expect(refused.body.error.message).toContain("agent.id or agent_definition");
});

test("returns nothing without a key", async () => {
  const { api } = all;
  for (const { path, method } of api.app.routes.filter((route) => route.path.startsWith("/api/"))) {
    if (method === "ALL") continue;
    const answer = await api.app.request(path.replaceAll(/:\w+/g, "some-id"), { method });
    expect(answer.status, `${method} ${path}`).toBe(401);
  }
});
