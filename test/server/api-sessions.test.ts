import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { LoggedEvent } from "../../src/core/events/events.ts";
import { idle, type People, people, session } from "../support/api-people.ts";
import { temporaryDirectory } from "../support/host.ts";
import { order } from "../support/obedient-model.ts";
import { agent } from "../support/host.ts";
import { until } from "../support/until.ts";

let all: People;
/** A session that was spoken to, for those that do not mind what else is said in it. */
let talk: string;
beforeAll(async () => {
  all = await people({
    agent: { permissions: { allow: ["Bash(echo *)", "Bash(sleep *)"] } },
    // Most sessions here are started and never spoken to: none needs a process ahead of its message.
    host: { capacity: { max_idle_processes: 0 } },
  });
  talk = await session(all.operator, TEXT);
});
afterAll(() => all.api[Symbol.asyncDispose]());

const TEXT = "what is in here?";
const image = (source: object): object => ({ type: "image", source });

test("a session is started with the project's own agent, in the project's directory", async () => {
  const { operator, api } = all;
  const started = await operator.post("/api/sessions", {
    title: "first look",
    metadata: { ticket: "42" },
    message: TEXT,
    model: "claude-haiku-4-5",
    mode: "read-only",
    budget: { usd: 3 },
  });
  expect(started.status).toBe(201);
  expect(started.body).toMatchObject({
    project: api.project,
    cwd: api.cwd,
    title: "first look",
    metadata: { ticket: "42" },
    agent: { name: "tester", model: "claude-haiku-4-5", permissions: { mode: "read-only" }, budget: { usd: 3 } },
    agent_ref: null,
    environment_id: null,
    archived_at: null,
  });
  const done = await idle(operator, started.body.id);
  expect(done).toMatchObject({ status: "idle", first_message: TEXT, turns: 1 });
  expect(done.state).toMatchObject({ stop_reason: { type: "end_turn" }, open_calls: [], turns: 1 });
  expect(Date.parse(done.last_activity_at)).toBeGreaterThan(Date.parse(done.created_at));
});

test("a session is told what its agent must know, or is not started", async () => {
  const { admin, operator } = all;
  const definition = agent({
    instructions: "Answer in {{language}}.",
    inputs: { language: { type: "string", description: "What people here speak." } },
  });
  const { body: stored } = await admin.post("/api/agents", { definition });
  const missing = await operator.post("/api/sessions", { agent: { id: stored.id } });
  expect(missing.status).toBe(400);
  expect(missing.body.error.message).toContain("language is missing: What people here speak.");
  const started = await operator.post("/api/sessions", { agent: { id: stored.id }, inputs: { language: "Dutch" } });
  expect(started.body.agent.instructions).toBe("Answer in Dutch.");
  const { body } = await operator.get(`/api/sessions/${started.body.id}/events`);
  expect(body.data).toContainEqual(
    expect.objectContaining({ type: "capstan.inputs_given", values: { language: "Dutch" } }),
  );
});

test("sessions are searched, in the caller's project alone", async () => {
  const { viewer, operator, stranger } = all;
  const id = await session(operator, "find the needle");
  const search = async (query: string): Promise<string[]> =>
    ((await viewer.get(`/api/sessions?${query}`)).body.data as { id: string }[]).map((one) => one.id);
  expect(await search("search=NEEDLE")).toEqual([id]);
  expect(await search("search=nobody-said-this")).toEqual([]);
  expect(await search("agent=tester&limit=1")).toEqual([id]);
  expect(await search(`named=${id.slice(-8)}`)).toEqual([id]);
  expect(await search("status=terminated")).toEqual([]);
  expect((await stranger.get("/api/sessions")).body.data).toEqual([]);
  expect((await viewer.get("/api/sessions?limit=0")).body.error.message).toContain("limit");
  expect((await viewer.get("/api/sessions?status=asleep")).body.error.message).toContain("status");
});

test("a log is read in pages", async () => {
  const { viewer, operator } = all;
  const id = await session(operator, TEXT);
  const whole = (await viewer.get(`/api/sessions/${id}/events`)).body;
  expect(whole.next_after).toBeNull();
  const read: LoggedEvent[] = [];
  for (let after: number | null = 0; after !== null;) {
    const { body } = await viewer.get(`/api/sessions/${id}/events?after=${after}&limit=3`);
    read.push(...(body.data as LoggedEvent[]));
    after = body.next_after as number | null;
  }
  expect(read).toEqual(whole.data);
  expect(read.map(({ seq }) => seq)).toEqual(read.map((_, index) => index + 1));
  const some = (await viewer.get(`/api/sessions/${id}/events?after=2&up_to=4`)).body.data as LoggedEvent[];
  expect(some.map(({ seq }) => seq)).toEqual([3, 4]);
  const said = (await viewer.get(`/api/sessions/${id}/events?types=user.message,agent.message`)).body;
  expect((said.data as LoggedEvent[]).map(({ type }) => type)).toEqual(["user.message", "agent.message"]);
});

test("a message is accepted with the place its events begin at, and streamed", async () => {
  const { operator, viewer, api } = all;
  const sent = await operator.post(`/api/sessions/${talk}/messages`, { content: [{ type: "text", text: "and now?" }] });
  expect(sent.status).toBe(202);
  const leaving = new AbortController();
  const stream = await api.app.request(`/api/sessions/${talk}/stream?after=${sent.body.after}`, {
    headers: { "x-api-key": viewer.key },
    signal: leaving.signal,
  });
  expect(stream.headers.get("content-type")).toContain("text/event-stream");
  let seen = "";
  for await (const chunk of (stream.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (seen.includes("event: session.status_idle")) break;
  }
  leaving.abort();
  expect(seen).toMatch(new RegExp(`^retry: \\d+\\n\\nevent: user.message\\nid: ${Number(sent.body.after) + 1}\\n`));
  expect(seen).toContain('"text":"and now?"');
});

test("a turn is interrupted; an idle session stays as it is", async () => {
  const { operator } = all;
  const started = await operator.post("/api/sessions", { message: order(["Bash", { command: "sleep 60" }]) });
  const { id } = started.body;
  await until(
    () => operator.get(`/api/sessions/${id}`),
    ({ body }) => body.state.open_calls.length > 0,
  );
  const stopped = await operator.post(`/api/sessions/${id}/interrupt`);
  expect(stopped.body.state).toMatchObject({ status: "idle", stop_reason: { type: "end_turn" }, open_calls: [] });
  const turns = stopped.body.turns as number;
  expect((await operator.post(`/api/sessions/${id}/interrupt`)).body.turns).toBe(turns);
});

test("title, metadata, limit, model and mode are changed", async () => {
  const { operator, admin } = all;
  const id = await session(operator, TEXT, { metadata: { a: "1", b: "2" } });
  const changed = await admin.send("PATCH", `/api/sessions/${id}`, {
    title: "renamed",
    metadata: { a: null, c: "3" },
    max_usd: 7,
    model: "claude-haiku-4-5",
    mode: "accept-edits",
  });
  expect(changed.body).toMatchObject({ title: "renamed", metadata: { b: "2", c: "3" } });
  expect(changed.body.state).toMatchObject({
    model: "claude-haiku-4-5",
    mode: "accept-edits",
    budget: { usd: 7 },
  });
  expect((await operator.send("PATCH", `/api/sessions/${id}`, { mode: "fast" })).body.error.message).toContain("mode");
});

test("a fork has the conversation, and not the spend", async () => {
  const { operator } = all;
  const forked = await operator.post(`/api/sessions/${talk}/fork`, {});
  expect(forked.status).toBe(201);
  expect(forked.body.forked_from.session_id).toBe(talk);
  expect(forked.body.usd).toBe(0);
  const { body } = await operator.get(`/api/sessions/${forked.body.id}/events`);
  expect((body.data as LoggedEvent[]).map(({ type }) => type)).toContain("user.message");
});

test("a session that a program guards with hooks is not forked out of their reach", async () => {
  const { operator, api } = all;
  const given = { agent: agent(), cwd: api.cwd, project: api.project };
  await using guarded = await api.host.startSession({ ...given, hooks: { beforeTool: () => ({ deny: "Never." }) } });
  const { status, body } = await operator.post(`/api/sessions/${guarded.id}/fork`, {});
  expect([status, body.error.details.error_code]).toEqual([400, "unsupported"]);
  expect(body.error.message).toContain("Resume it from that program");
});

test("a session is compacted in a turn of its own", async () => {
  const { operator } = all;
  const { status, body } = await operator.post(`/api/sessions/${talk}/compact`);
  expect(status).toBe(202);
  const events = await until(
    async () => (await operator.get(`/api/sessions/${talk}/events?after=${body.after}`)).body.data as LoggedEvent[],
    (found) => found.some(({ type }) => type === "session.status_idle"),
  );
  expect(events.map(({ type }) => type)).toContain("agent.thread_context_compacted");
});

test("a log is exported as the lines of an archive", async () => {
  const { viewer, api } = all;
  const { response } = await viewer.get(`/api/sessions/${talk}/export`);
  const lines = (await response.text()).trim().split("\n");
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ capstan: 1, session: { id: talk } });
  expect(lines).toHaveLength((await api.host.read(talk)).length + 1);
});

test("what is given with a session is for admins: definitions, environments, and places outside the project", async () => {
  const { admin, operator, api } = all;
  const definition = { name: "given", model: "claude-opus-4-8" };
  using elsewhere = temporaryDirectory();
  const outside = elsewhere.path;
  const inside = join(api.cwd, "inside");
  mkdirSync(inside);
  const refused = async (body: object): Promise<string> => {
    const answer = await operator.post("/api/sessions", body);
    expect(answer.status).toBe(403);
    return answer.body.error.message as string;
  };
  expect(await refused({ agent_definition: definition })).toContain("agent_definition: only an admin key");
  expect(await refused({ environment: {} })).toContain("environment: only an admin key");
  expect(await refused({ cwd: outside })).toContain(`within ${api.cwd}`);
  expect(await refused({ cwd: join(api.home, "not-there") })).toContain("cwd:");
  symlinkSync(outside, join(inside, "way-out"));
  expect(await refused({ cwd: join(inside, "way-out") })).toContain("cwd:");
  expect((await operator.post("/api/sessions", { cwd: inside })).body.cwd).toBe(inside);

  const given = await admin.post("/api/sessions", {
    agent_definition: definition,
    environment: { workspace: { kind: "copy", mounts: [{ source: "." }] } },
    cwd: outside,
  });
  expect(given.body).toMatchObject({
    agent: definition,
    source: outside,
    environment: { workspace: { kind: "copy" } },
  });
  expect((await admin.post("/api/sessions", { cwd: join(api.home, "not-there") })).body.error.message).toContain(
    "does not exist on the server's machine",
  );
  expect((await admin.post("/api/sessions", { cwd: "relative" })).body.error.message).toContain("absolute");
});

test("below admin a session is limited further than its agent, never less", async () => {
  const { admin, operator } = all;
  const permissions = { mode: "accept-edits" };
  const definition = { name: "thrifty", model: "claude-opus-4-8", permissions, budget: { usd: 2, turns: 9 } };
  const { body: stored } = await admin.post("/api/agents", { definition });
  const agent = { id: stored.id };
  const budget = { usd: 50, turns: 3, steps: 7 };
  const started = await operator.post("/api/sessions", { agent, budget, mode: "normal" });
  expect(started.body.agent).toMatchObject({
    budget: { usd: 2, turns: 3, steps: 7 },
    permissions: { mode: "normal", allow: [] },
  });
  expect((await admin.post("/api/sessions", { agent, budget })).body.agent.budget).toEqual(budget);

  const refused = async (method: string, path: string, body: object): Promise<string> => {
    const answer = await operator.send(method, path, body);
    expect(answer.status).toBe(403);
    return answer.body.error.message as string;
  };
  expect(await refused("POST", "/api/sessions", { agent, mode: "yolo" })).toMatch(/^mode: .*requires an admin key/);
  expect(await refused("POST", "/api/sessions", { agent, allow: ["Bash(rm *)"] })).toMatch(
    /^allow: .*requires an admin key/,
  );
  expect((await admin.post("/api/sessions", { agent, mode: "yolo", allow: ["Bash(rm *)"] })).status).toBe(201);

  const path = `/api/sessions/${started.body.id}`;
  expect(await refused("PATCH", path, { mode: "yolo" })).toMatch(/^mode: .*requires an admin key/);
  const limit = async (person: typeof admin, usd: number | null): Promise<number> =>
    (await person.send("PATCH", path, { max_usd: usd })).body.state.budget.usd as number;
  expect([await limit(operator, 1), await limit(operator, null), await limit(operator, 100)]).toEqual([1, 2, 2]);
  expect(await limit(admin, 100)).toBe(100);
  const changed = await operator.send("PATCH", path, { mode: "accept-edits" });
  expect(changed.body.state.mode).toBe("accept-edits");
});

test("an agent that only reads is not made one that carries out plans", async () => {
  const { admin, operator } = all;
  const definition = { name: "reader", model: "claude-opus-4-8", permissions: { mode: "read-only" } };
  const { body: stored } = await admin.post("/api/agents", { definition });
  expect((await operator.post("/api/sessions", { agent: { id: stored.id }, mode: "plan" })).status).toBe(403);
});

test("below admin no session works in another project, where credentials are, or in Capstan's own files", async () => {
  const { admin, operator, api } = all;
  const nested = join(api.cwd, "nested");
  const keys = join(api.cwd, ".ssh", "keys");
  for (const directory of [join(nested, ".capstan"), join(nested, "src"), keys])
    mkdirSync(directory, { recursive: true });
  symlinkSync(keys, join(api.cwd, "way-to-keys"));
  for (const cwd of [nested, join(nested, "src"), keys, join(api.cwd, ".ssh"), join(api.cwd, "way-to-keys")]) {
    const refused = await operator.post("/api/sessions", { cwd });
    expect([refused.status, refused.body.error.message], cwd).toEqual([403, expect.stringMatching(/^cwd: .*admin/)]);
    expect((await admin.post("/api/sessions", { cwd })).status, cwd).toBe(201);
  }
  const wide = { name: "wide", definition: {}, directory: join(api.home, "..") };
  const { body: environment } = await admin.post("/api/environments", wide);
  const refused = await operator.post("/api/sessions", { environment_id: environment.id, cwd: api.home });
  expect(refused.status).toBe(403);
});

test("the blocks of a message are checked, and files of the project are put in", async () => {
  const { api, operator } = all;
  const refused = async (block: object): Promise<string> => {
    const answer = await operator.post("/api/sessions", { message: [block] });
    expect([400, 404]).toContain(answer.status);
    return answer.body.error.message as string;
  };
  expect(await refused(image({ type: "base64", data: "%%%", media_type: "image/png" }))).toContain("message");
  expect(await refused(image({ type: "base64", data: "AAAA", media_type: "image/tiff" }))).toContain("message");
  expect(await refused(image({ type: "url", url: "file:///etc/passwd" }))).toContain("message");
  expect(await refused(image({ type: "file", file_id: "file_none" }))).toContain("file_none");

  const id = `file_${"0".repeat(32)}`;
  const file = { id, project: api.project, filename: "notes.txt", mimeType: "text/plain", sizeBytes: 5 };
  await api.store.registry.files.create({ ...file, createdAt: 1, expiresAt: null });
  await api.deps.contents.write(file.id, ReadableStream.from([new TextEncoder().encode("notes")]), 100);
  const document = { type: "document", source: { type: "file", file_id: file.id } };
  const { status, body } = await operator.post(`/api/sessions/${talk}/messages`, { content: [document] });
  expect(status).toBe(202);
  const { body: log } = await operator.get(`/api/sessions/${talk}/events?after=${body.after}&limit=1`);
  expect(log.data[0].content[0].source).toEqual({ type: "text", data: "notes", media_type: "text/plain" });
});

test("a session without a directory of the host works in an empty workspace", async () => {
  const { admin, operator } = all;
  const definition = { workspace: { kind: "copy", mounts: [] } };
  const { body: environment } = await admin.post("/api/environments", { name: "empty", definition });
  const started = await operator.post("/api/sessions", { environment_id: environment.id });
  expect(started.status).toBe(201);
  expect(started.body.environment_id).toBe(environment.id);
  expect((await operator.get(`/api/sessions/${started.body.id}/files`)).body.data).toEqual([]);
});

test("wrong requests are refused with the field that is wrong, and nothing is started", async () => {
  const { admin, viewer } = all;
  const count = async (): Promise<number> => (await viewer.get("/api/sessions?limit=1000")).body.data.length as number;
  const before = await count();
  const refused = async (body: unknown, status = 400): Promise<string> => {
    const answer = await admin.post("/api/sessions", body);
    expect(answer.status).toBe(status);
    expect(answer.body.request_id).toMatch(/\w/);
    return answer.body.error.message as string;
  };
  expect(await refused({ prompt: "x" })).toContain('"prompt"');
  expect(await refused({ agent_definition: { name: "Bad Name", model: "m" } })).toContain("agent_definition.name");
  expect(await refused({ agent_definition: { name: "ok", model: "m", colour: "red" } })).toContain("colour");
  expect(await refused({ environment: { sandbox: { mode: "maybe" } } })).toContain("environment.sandbox.mode");
  expect(await refused({ message: "" })).toContain("message");
  expect(await refused({ allow: ["Bash(("] })).toContain("allow");
  expect(await refused({ agent: { id: "agent_none" } }, 404)).toContain("agent_none");
  expect(await refused({ environment_id: "env_none" }, 404)).toContain("env_none");
  expect(await refused({ agent: { id: "a" }, agent_definition: { name: "b", model: "m" } })).toContain("exclude");
  expect(await refused("text")).toContain("expected object");
  expect((await viewer.post("/api/sessions", {})).status).toBe(403);
  expect(await count()).toBe(before);
});

test("bodies that are no JSON, or do not say so, are refused in the API's words", async () => {
  const { api, operator } = all;
  const send = async (body: string, type: string): Promise<Response> =>
    api.app.request("/api/sessions", {
      method: "POST",
      headers: { "x-api-key": operator.key, "content-type": type },
      body,
    });
  const broken = await send('{"message": ', "application/json");
  expect(broken.status).toBe(400);
  expect(await broken.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  const form = await send("message=hello", "application/x-www-form-urlencoded");
  expect(form.status).toBe(400);
  expect(((await form.json()) as { error: { message: string } }).error.message).toContain("application/json");
});

test("a viewer reads, and changes nothing", async () => {
  const { viewer } = all;
  const asked: [string, string, object?][] = [
    ["PATCH", "", { title: "mine" }],
    ["POST", "/messages", { content: "hello" }],
    ["POST", "/interrupt"],
    ["POST", "/fork", {}],
    ["POST", "/compact"],
    ["POST", "/rewind", { to: "start" }],
    ["POST", "/rewind/undo"],
    ["POST", "/apply", {}],
    ["POST", "/export/patch"],
    ["POST", "/export/zip"],
    ["POST", "/export/branch", {}],
  ];
  for (const [method, path, body] of asked)
    expect((await viewer.send(method, `/api/sessions/${talk}${path}`, body)).status, `${method} ${path}`).toBe(403);
});
