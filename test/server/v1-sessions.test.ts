import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type Anthropic from "@anthropic-ai/sdk";
import { BadRequestError, NotFoundError, PermissionDeniedError, toFile } from "@anthropic-ai/sdk";
import { BetaEnvironmentArchivedError } from "@anthropic-ai/sdk/resources/beta/environments/environments";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent as localAgent } from "../support/host.ts";
import { order } from "../support/obedient-model.ts";
import { say } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";
import { refusal, type V1App, v1App } from "../support/v1-app.ts";
import { listEvents, message, ofType, type Place, place, turn, untilIdle } from "../support/v1-session.ts";

let app: V1App;
let client: Anthropic;
let here: Place;
beforeAll(async () => {
  // Most of these sessions never take a turn, and need no process that waits for one.
  app = await v1App({
    host: { capacity: { max_idle_processes: 0 } },
    settings: { allowPrivateAddresses: true },
  });
  client = await app.client();
  here = await place(client);
});
afterAll(() => app[Symbol.asyncDispose]());

const cwdOf = async (id: string): Promise<string> => (await app.host.session(id))?.cwd ?? "";

test("a session starts idle, with the agent and the environment as they were", async () => {
  const session = await client.beta.sessions.create({ ...here, title: "First", metadata: { a: "1" } });
  expect(session).toMatchObject({
    type: "session",
    id: expect.stringMatching(/^sesn_[0-9a-f]{32}$/),
    title: "First",
    status: "idle",
    metadata: { a: "1" },
    environment_id: here.environment_id,
    agent: { type: "agent", id: here.agent, version: 1, name: "Tester", multiagent: null },
    budget: null,
    resources: [],
    vault_ids: [],
    outcome_evaluations: [],
    archived_at: null,
    usage: { input_tokens: 0, output_tokens: 0, list_cost: { amount: "0", currency: "USD" } },
  });
  expect(await client.beta.sessions.retrieve(session.id)).toMatchObject({ id: session.id, title: "First" });
  // A later version of the agent changes nothing in it.
  await client.beta.agents.update(here.agent, { name: "Renamed" });
  expect((await client.beta.sessions.retrieve(session.id)).agent).toMatchObject({ version: 1, name: "Tester" });
  await client.beta.agents.update(here.agent, { name: "Tester" });
});

test("sends first messages with the session, and counts their cost", async () => {
  const session = await client.beta.sessions.create({ ...here, initial_events: [message("hello"), message("again")] });
  await until(
    () => client.beta.sessions.retrieve(session.id),
    ({ status }) => status === "idle",
  );
  const events = await listEvents(client, session.id);
  expect(ofType(events, "user.message")).toHaveLength(2);
  expect(ofType(events, "agent.message").length).toBeGreaterThan(0);
  const { usage } = await client.beta.sessions.retrieve(session.id);
  expect(usage.input_tokens).toBeGreaterThan(0);
});

test("files are in the workspace before the agent starts, and can be added later", async () => {
  const upload = async (name: string, text: string): Promise<string> =>
    (await client.beta.files.upload({ file: await toFile(Buffer.from(text), name) })).id;
  const [plain, mounted] = [await upload("notes.txt", "one"), await upload("data.csv", "two")];
  const session = await client.beta.sessions.create({
    ...here,
    resources: [
      { type: "file", file_id: plain },
      { type: "file", file_id: mounted, mount_path: "/workspace/in/data.csv" },
    ],
  });
  const cwd = await cwdOf(session.id);
  expect(readFileSync(join(cwd, "uploads/notes.txt"), "utf8")).toBe("one");
  expect(readFileSync(join(cwd, "in/data.csv"), "utf8")).toBe("two");
  expect(session.resources).toMatchObject([
    { type: "file", file_id: plain, mount_path: "uploads/notes.txt" },
    { type: "file", file_id: mounted, mount_path: "in/data.csv" },
  ]);
  const resources = client.beta.sessions.resources;
  const added = await resources.add(session.id, { type: "file", file_id: plain, mount_path: "later.txt" });
  expect(readFileSync(join(cwd, "later.txt"), "utf8")).toBe("one");
  expect(await resources.retrieve(added.id, { session_id: session.id })).toEqual(added);
  const all = [];
  for await (const { id } of resources.list(session.id, { limit: 2 }) as AsyncIterable<{ id: string }>) all.push(id);
  expect(all).toHaveLength(3);
  expect(all[2]).toBe(added.id);
  const again = resources.add(session.id, { type: "file", file_id: plain, mount_path: "later.txt" });
  expect((await refusal(again)).apiMessage).toContain("already exists");
});

test.for(["/etc/passwd", "../outside", "/workspace/../outside", "/workspace/", "a/../../b"])(
  "a file cannot be put at %s",
  async (mount_path) => {
    const { id } = await client.beta.files.upload({ file: await toFile(Buffer.from("x"), "x") });
    const resources = [{ type: "file" as const, file_id: id, mount_path }];
    const error = await refusal(client.beta.sessions.create({ ...here, resources }));
    expect(error.status).toBe(400);
    expect(error.apiMessage).toContain("mount_path");
  },
);

test.for([
  [{ type: "github_repository", url: "/etc" }, "https URL of a repository"],
  [{ type: "github_repository", url: "file:///etc" }, "https URL of a repository"],
  [{ type: "github_repository", url: "http://x.example/a" }, "https URL of a repository"],
  [{ type: "github_repository", url: "https://x.example/a", checkout: { type: "commit", sha: "HEAD" } }, "SHA"],
  [{ type: "memory_store", memory_store_id: "memstore_1" }, "does not support resources of type memory_store"],
  [{ type: "file", file_id: "file_gone" }, "Not found: file"],
] as const)("rejects the resource %j", async ([resource, said]) => {
  const { status, message: text } = await app.send("/v1/sessions", { body: { ...here, resources: [resource] } });
  expect([400, 404]).toContain(status);
  expect(text).toContain(said);
});

test("supports an agent's version and overrides", async () => {
  await client.beta.agents.update(here.agent, { description: "now newer" });
  const old = await client.beta.sessions.create({ ...here, agent: { type: "agent", id: here.agent, version: 1 } });
  expect(old.agent.version).toBe(1);
  const other = await client.beta.sessions.create({
    ...here,
    agent: { type: "agent_with_overrides", id: here.agent, system: "Else.", model: "claude-sonnet-5", tools: [] },
  });
  expect(other.agent).toMatchObject({ id: here.agent, system: "Else.", model: { id: "claude-sonnet-5" }, tools: [] });
  expect(await client.beta.agents.retrieve(here.agent)).toMatchObject({
    system: null,
    model: { id: "claude-opus-4-8" },
  });
  const operator = await app.client("operator");
  for (const more of [
    { tools: [{ type: "agent_toolset_20260401" as const }] },
    { mcp_servers: [{ type: "url" as const, name: "other", url: "https://mcp.example.com/" }] },
  ]) {
    const widened = operator.beta.sessions.create({
      ...here,
      agent: { type: "agent_with_overrides", id: here.agent, ...more },
    });
    expect(await refusal(widened)).toBeInstanceOf(PermissionDeniedError);
  }
});

const limit = (amount: string) => ({ type: "limit" as const, max_list_cost: { amount, currency: "USD" as const } });

test("sets, raises and removes a budget", async () => {
  const session = await client.beta.sessions.create({ ...here, budget: limit("250") });
  expect(session.budget).toEqual(limit("250"));
  expect((await app.host.session(session.id))?.agent.budget.usd).toBe(2.5);
  const raised = await client.beta.sessions.update(session.id, { budget: limit("500"), title: "Rich" });
  expect(raised).toMatchObject({ budget: limit("500"), title: "Rich" });
  expect(await client.beta.sessions.update(session.id, { budget: null })).toMatchObject({ budget: null });
  expect(ofType(await listEvents(client, session.id), "session.updated")).toHaveLength(2);
  const before = app.model.script;
  app.model.script = () => say("dear", { usage: { output_tokens: 1_000_000 } });
  await turn(client, session.id, [message("hello")]).finally(() => (app.model.script = before));
  const low = await refusal(client.beta.sessions.update(session.id, { budget: limit("100") }));
  expect(low.errorCode).toBe("budget_not_raised");
});

test("a session's limits cannot exceed its agent's", async () => {
  const stored = await app.deps.registry.agents.get("default", here.agent);
  if (stored === undefined) throw new Error("There is no agent.");
  const id = app.deps.ids.next("agent");
  const definition = { ...stored.definition, budget: { usd: 3 } };
  await app.deps.registry.agents.create({ ...stored, id, version: 1, definition });
  const beyond = await refusal(client.beta.sessions.create({ ...here, agent: id, budget: limit("301") }));
  expect(beyond.apiMessage).toContain("the agent's limit is $3");
  const session = await client.beta.sessions.create({ ...here, agent: id, budget: limit("200") });
  expect((await refusal(client.beta.sessions.update(session.id, { budget: limit("400") }))).status).toBe(400);
  expect(await client.beta.sessions.update(session.id, { budget: null })).toMatchObject({ budget: limit("300") });
});

test("title and metadata can be changed, the agent cannot", async () => {
  const { id } = await client.beta.sessions.create({ ...here, title: "Old", metadata: { a: "1", b: "2" } });
  const updated = await client.beta.sessions.update(id, { title: null, metadata: { a: null, c: "3" } });
  expect(updated).toMatchObject({ title: null, metadata: { b: "2", c: "3" } });
  const error = await refusal(client.beta.sessions.update(id, { agent: { tools: [] } }));
  expect(error.apiMessage).toContain("does not support changing a session's agent");
  expect((await refusal(client.beta.sessions.update(id, { vault_ids: ["vlt_1"] }))).apiMessage).toContain("vaults");
});

test("an archived session is read-only", async () => {
  const { id } = await client.beta.sessions.create({ ...here });
  await turn(client, id, [message("hello")]);
  const archived = await client.beta.sessions.archive(id);
  expect(archived.archived_at).not.toBeNull();
  expect(await client.beta.sessions.archive(id)).toMatchObject({ archived_at: archived.archived_at });
  expect((await listEvents(client, id)).length).toBeGreaterThan(0);
  for (const attempt of [
    () => client.beta.sessions.events.send(id, { events: [message("more")] }),
    () => client.beta.sessions.update(id, { title: "x" }),
  ]) {
    const error = await refusal(attempt());
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.errorCode).toBe("session_archived");
  }
});

test("a session that waits for a person can be deleted", async () => {
  const { id } = await client.beta.sessions.create({ ...here });
  await turn(client, id, [message(order(["Bash", { command: "touch x" }]))]);
  expect(await client.beta.sessions.delete(id)).toEqual({ type: "session_deleted", id });
  for (const attempt of [
    () => client.beta.sessions.retrieve(id),
    () => client.beta.sessions.delete(id),
    () => client.beta.sessions.events.list(id),
  ])
    expect(await refusal(attempt())).toBeInstanceOf(NotFoundError);
});

test("archived agents and environments are not used for new sessions", async () => {
  const old = await place(client);
  await client.beta.environments.archive(old.environment_id);
  expect(await refusal(client.beta.sessions.create(old))).toBeInstanceOf(BetaEnvironmentArchivedError);
  await client.beta.agents.archive(old.agent);
  expect((await refusal(client.beta.sessions.create({ ...here, agent: old.agent }))).apiMessage).toContain(
    "is archived",
  );
  expect((await refusal(client.beta.sessions.create({ ...here, agent: "agent_gone" }))).status).toBe(404);
  expect((await refusal(client.beta.sessions.create({ ...here, environment_id: "env_gone" }))).status).toBe(404);
});

test("pages a list forward and back, with filters", async () => {
  const lister = await app.client("admin", "lists");
  const there = await place(lister);
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) ids.unshift((await lister.beta.sessions.create(there)).id);
  await lister.beta.sessions.archive(ids[4] ?? "");
  const page = async (params: Anthropic.Beta.SessionListParams) => {
    const { data, next_page, prev_page } = await lister.beta.sessions.list(params);
    return { ids: data.map(({ id }) => id), next_page, prev_page };
  };
  const first = await page({ limit: 2 });
  expect(first).toMatchObject({ ids: ids.slice(0, 2), prev_page: null });
  const second = await page({ limit: 2, page: first.next_page });
  expect(second).toMatchObject({ ids: ids.slice(2, 4), next_page: null });
  const back = await page({ limit: 2, page: second.prev_page });
  expect(back.ids).toEqual(ids.slice(0, 2));
  expect(back.prev_page).toBeNull();
  expect((await page({ limit: 2, page: back.next_page })).ids).toEqual(second.ids);
  expect((await page({ include_archived: true, order: "asc" })).ids).toEqual(ids.toReversed());
  expect((await page({ statuses: ["running"] })).ids).toEqual([]);
  expect((await page({ statuses: ["running", "idle"] })).ids).toHaveLength(4);
  expect((await page({ agent_id: there.agent, agent_version: 2 })).ids).toEqual([]);
  expect((await page({ agent_id: there.agent, agent_version: 1 })).ids).toHaveLength(4);
  const { created_at } = await lister.beta.sessions.retrieve(ids[2] ?? "");
  expect((await page({ "created_at[gt]": created_at })).ids).toEqual(ids.slice(0, 2));
  expect((await page({ "created_at[gte]": created_at })).ids).toEqual(ids.slice(0, 3));
  expect((await page({ "created_at[lt]": created_at })).ids).toEqual(ids.slice(3, 4));
  expect((await refusal(page({ page: first.next_page, order: "asc" }))).status).toBe(400);
  expect((await refusal(page({ deployment_id: "x" }))).apiMessage).toContain("does not support deployments");
  expect((await refusal(page({ agent_version: 1 }))).apiMessage).toContain("agent_id");
});

test("shows a session of the command line", async () => {
  const session = await app.host.startSession({ agent: localAgent({ tools: ["Read"] }), cwd: app.cwd });
  expect(await client.beta.sessions.retrieve(session.id)).toMatchObject({
    environment_id: "env_local",
    agent: { id: "agent_local", version: 0, name: "tester", system: "You are a test agent." },
  });
  await session.close();
});

test("an environment with a directory can be used by its id", async () => {
  const repository = join(app.home, "repository");
  execFileSync("git", ["init", "-q", repository]);
  writeFileSync(join(repository, "readme.md"), "hello");
  execFileSync("git", ["-C", repository, "add", "."]);
  execFileSync("git", ["-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]);
  const stored = await app.deps.registry.environments.get("default", here.environment_id);
  if (stored === undefined) throw new Error("There is no environment.");
  const id = app.deps.ids.next("env");
  await app.deps.registry.environments.create({
    ...stored,
    id,
    directory: repository,
    definition: { ...stored.definition, workspace: { kind: "worktree" } },
  });
  const session = await client.beta.sessions.create({ ...here, environment_id: id });
  expect(readFileSync(join(await cwdOf(session.id), "readme.md"), "utf8")).toBe("hello");
});

test("a failed clone leaves no session behind", async () => {
  const url = "https://127.0.0.1:1/acme/site.git";
  const before = (await client.beta.sessions.list({ limit: 100 })).data.length;
  const error = await refusal(
    client.beta.sessions.create({
      ...here,
      resources: [{ type: "github_repository", url, authorization_token: "ghp_secret" }],
    }),
  );
  expect(error.status).toBe(400);
  expect(error.message).toContain("git clone failed");
  expect(error.message).not.toContain("ghp_secret");
  expect((await client.beta.sessions.list({ limit: 100 })).data.length).toBe(before);
  const twice = [url, url].map((each) => ({ type: "github_repository" as const, url: each }));
  const clash = await refusal(client.beta.sessions.create({ ...here, resources: twice }));
  expect(clash.apiMessage).toContain("site and site overlap");
});

test("running sessions cannot be archived or deleted", async () => {
  const { id } = await client.beta.sessions.create({ ...here });
  const before = app.model.script;
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  app.model.script = () => ({ blocks: [{ type: "text", text: "late" }], delay: held });
  try {
    const stream = await client.beta.sessions.events.stream(id);
    await client.beta.sessions.events.send(id, { events: [message("wait")] });
    for (const attempt of [() => client.beta.sessions.archive(id), () => client.beta.sessions.delete(id)]) {
      const error = await refusal(attempt());
      expect(error.status).toBe(400);
      expect(error.apiMessage).toContain("user.interrupt");
    }
    const { data = [] } = await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
    const events = await untilIdle(stream);
    expect(ofType(events, "user.interrupt").map((event) => event.id)).toEqual(data.map((event) => event.id));
    expect(ofType(events, "session.status_idle")).toMatchObject([{ stop_reason: { type: "end_turn" } }]);
  } finally {
    release();
    app.model.script = before;
  }
  await client.beta.sessions.delete(id);
});
