import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CapstanError } from "../../src/core/errors.ts";
import { type People, people, session } from "../support/api-people.ts";
import { order } from "../support/obedient.ts";

let all: People;
beforeAll(async () => {
  all = await people({ agent: { permissions: { allow: ["Bash(echo *)"], deny: ["Bash(rm *)"] } } });
});
afterAll(() => all.api[Symbol.asyncDispose]());

test("a caller is told who they are, and where their project is", async () => {
  const { viewer, stranger, api } = all;
  expect((await viewer.get("/api/whoami")).body).toMatchObject({ role: "viewer", project: api.project });
  expect((await viewer.get("/api/projects")).body.data).toEqual([{ id: api.project, directory: api.cwd }]);
  expect((await stranger.get("/api/projects")).body.data).toHaveLength(1);
  expect((await viewer.get("/api/models")).body.data).toEqual([{ id: "claude-opus-4-8", display_name: "Opus" }]);
});

test("without a credential the models are those that Capstan knows", async () => {
  const { apiApp } = await import("../support/api-app.ts");
  await using bare = await apiApp({
    ports: { models: () => Promise.reject(new CapstanError("credential_missing", "There is no key.")) },
  });
  const { status, body } = await (await bare.as("viewer")).get("/api/models");
  expect(status).toBe(200);
  expect(body.data).toContainEqual(expect.objectContaining({ id: "claude-opus-4-8", display_name: "Claude Opus 4.8" }));
});

test("a call is checked against the project's agent, a stored one and a given one", async () => {
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

test("changed rules are tried on what was decided in the project", async () => {
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

test("what was spent is told by session, agent and day, and of one project", async () => {
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
  expect((await viewer.get("/api/budgets")).body).toEqual({
    settings: { day: { usd: 5, time_zone: "Europe/Berlin" } },
  });
});

test("an audit tells of the project's own sessions, and of what is missing", async () => {
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

test("what a server was put together without is refused by name", async () => {
  const { apiApp } = await import("../support/api-app.ts");
  const ports = { ledger: undefined, audit: undefined, models: undefined, defaults: undefined, archive: undefined };
  await using bare = await apiApp({ ports: { ...ports, policy: undefined, budgets: undefined } });
  const admin = await bare.as("admin");
  for (const path of ["/api/ledger", "/api/audit/verify", "/api/models", "/api/budgets"]) {
    const refused = await admin.get(path);
    expect(refused.status).toBe(400);
    expect(refused.body.error.details.error_code).toBe("unsupported");
  }
  const refused = await admin.post("/api/sessions", {});
  expect(refused.body.error.message).toContain("agent.id or agent_definition");
});

test("without a key nothing is told", async () => {
  const { api } = all;
  for (const { path, method } of api.app.routes.filter((route) => route.path.startsWith("/api/"))) {
    if (method === "ALL") continue;
    const answer = await api.app.request(path.replaceAll(/:\w+/g, "some-id"), { method });
    expect(answer.status, `${method} ${path}`).toBe(401);
  }
});
