import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Person } from "../support/api-app.ts";
import { idle, type People, people, session } from "../support/api-people.ts";
import { order } from "../support/obedient-model.ts";
import { until } from "../support/until.ts";

let all: People;
beforeAll(async () => {
  all = await people({ agent: { permissions: { ask: [{ rule: "Bash(touch never*)", remember: false }] } } });
});
afterAll(() => all.api[Symbol.asyncDispose]());

const touch = (name: string): string => order(["Bash", { command: `touch ${name}` }]);

/** One session, and so one agent process, for tests that do not depend on its earlier messages. */
let shared: string | undefined;
async function asks(message: string): Promise<string> {
  const { operator } = all;
  if (shared === undefined) return (shared = await session(operator, message));
  const id = shared;
  await until(
    () => idle(operator, id),
    ({ state }) => state.stop_reason.type === "end_turn",
  );
  await operator.post(`/api/sessions/${id}/messages`, { content: message });
  return id;
}

async function pendingIn(person: Person, id: string): Promise<string> {
  const { body } = await person.get(`/api/approvals?status=pending&session_id=${id}&wait=20`);
  return body.data[0].id as string;
}

test("lists, shows and answers an approval, and the session continues", async () => {
  const { operator, viewer, api } = all;
  const id = await session(operator, touch("one.txt"));
  const { body } = await viewer.get("/api/approvals?status=pending");
  expect(body.data).toMatchObject([{ session_id: id, project: api.project, status: "pending", answer: null }]);
  const approval = body.data[0].id as string;
  expect((await viewer.get(`/api/approvals/${approval}`)).body.request.tool).toBe("Bash");
  expect((await viewer.get(`/api/sessions/${id}`)).body.waiting).toBe(1);
  // A session that was active later does not replace the waiting one.
  const later = (await operator.post("/api/sessions", {})).body.id as string;
  const waiting = async (query: string): Promise<string[]> =>
    ((await viewer.get(`/api/sessions?limit=1${query}`)).body.data as { id: string }[]).map((one) => one.id);
  expect(await waiting("")).toEqual([later]);
  expect(await waiting("&waiting=true")).toEqual([id]);

  const answered = await operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow" });
  expect(answered.status).toBe(200);
  expect(answered.body.answer).toMatchObject({ behavior: "allow", by: "operator-key", from: "api" });
  await until(() => existsSync(join(api.cwd, "one.txt")), Boolean);
  const done = await until(
    () => idle(operator, id),
    ({ state }) => state.stop_reason.type === "end_turn",
  );
  expect(done.waiting).toBe(0);
  expect(await waiting("&waiting=true")).toEqual([]);
});

test("the first answer wins; a second one is told what it was", async () => {
  const { operator } = all;
  const id = await asks(touch("two.txt"));
  const approval = await pendingIn(operator, id);
  const answers = await Promise.all([
    operator.post(`/api/approvals/${approval}/answer`, { behavior: "deny", message: "no" }),
    operator.post(`/api/approvals/${approval}/answer`, { behavior: "deny", message: "no" }),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
  const refused = answers.find(({ status }) => status === 409);
  expect(refused?.body.error).toMatchObject({ type: "conflict_error", details: { error_code: "approval_closed" } });
});

test("an answer can change the input, and be remembered for the session or the project", async () => {
  const { operator, admin, api } = all;
  const id = await session(operator, order(["Bash", { command: "touch a.txt" }], ["Bash", { command: "touch b.txt" }]));
  const first = await pendingIn(operator, id);
  await operator.post(`/api/approvals/${first}/answer`, { behavior: "allow", input: { command: "touch edited.txt" } });
  const { body } = await operator.get(`/api/approvals?status=pending&session_id=${id}&after=${first}&wait=20`);
  expect(existsSync(join(api.cwd, "edited.txt"))).toBe(true);
  expect(existsSync(join(api.cwd, "a.txt"))).toBe(false);
  const second = body.data[0].id as string;
  const rules = ["Bash(touch b.txt)"];
  await operator.post(`/api/approvals/${second}/answer`, { behavior: "allow", scope: "project", rules });
  await until(() => existsSync(join(api.cwd, "b.txt")), Boolean);
  const grants = await admin.get("/api/grants");
  expect(grants.body.data).toMatchObject([{ rule: "Bash(touch b.txt)", scope: "project", project: api.project }]);
});

test("below admin, an answer saves only the rules that its approval suggests", async () => {
  const { api, admin, operator } = all;
  const before = (await admin.get("/api/grants")).body.data.length;
  const approval = await pendingIn(operator, await asks(touch("rules.txt")));
  for (const scope of ["session", "project"])
    for (const rules of [["Bash"], ["Bash(*)"], ["Bash(touch rules.txt)", "Write"]]) {
      const refused = await operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow", scope, rules });
      expect(refused.status).toBe(403);
      expect(refused.body.error.message).toContain("is not a rule that this approval suggests");
    }
  expect((await admin.get("/api/grants")).body.data).toHaveLength(before);
  expect((await operator.get(`/api/approvals/${approval}`)).body).toMatchObject({ status: "pending", answer: null });
  const rules = ["Bash(touch *)"];
  const allowed = await admin.post(`/api/approvals/${approval}/answer`, { behavior: "allow", scope: "session", rules });
  expect(allowed.status).toBe(200);
  await until(() => existsSync(join(api.cwd, "rules.txt")), Boolean);
  for (const { id, rule } of (await admin.get("/api/grants")).body.data)
    if (rule === "Bash(touch *)") expect((await admin.send("DELETE", `/api/grants/${id}`)).status).toBe(200);
});

const revocable = async (person: Person): Promise<boolean[]> =>
  (await person.get("/api/grants")).body.data.map((one: { may_revoke: boolean }) => one.may_revoke);

test("grants are visible only in their project, and revoked by the person who gave them or an admin", async () => {
  const { api, admin, viewer, stranger } = all;
  // With the same role and name.
  const operator = await api.as("operator");
  expect(await revocable(all.operator)).toEqual([true]);
  expect(await revocable(operator)).toEqual([false]);
  expect(await revocable(viewer)).toEqual([false]);
  const { body } = await viewer.get("/api/grants");
  const [grant] = body.data as { id: string }[];
  expect((await stranger.get("/api/grants")).body.data).toEqual([]);
  expect((await stranger.send("DELETE", `/api/grants/${grant?.id}`)).status).toBe(404);
  expect((await operator.send("DELETE", `/api/grants/${grant?.id}`)).status).toBe(403);
  expect((await admin.send("DELETE", `/api/grants/${grant?.id}`)).body).toEqual({ id: grant?.id, revoked: true });
  expect((await admin.send("DELETE", `/api/grants/${grant?.id}`)).status).toBe(404);
  expect((await viewer.get("/api/grants")).body.data).toEqual([]);
  const approval = await pendingIn(operator, await asks(touch("own.txt")));
  await operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow", scope: "project" });
  const [own] = (await operator.get("/api/grants")).body.data as { id: string }[];
  expect((await all.operator.send("DELETE", `/api/grants/${own?.id}`)).status).toBe(403);
  expect((await viewer.send("DELETE", `/api/grants/${own?.id}`)).status).toBe(403);
  expect((await operator.send("DELETE", `/api/grants/${own?.id}`)).status).toBe(200);
});

test("a project's key cannot answer for all projects", async () => {
  const { operator } = all;
  const id = await asks(touch("always.txt"));
  const approval = await pendingIn(operator, id);
  const refused = await operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow", scope: "always" });
  expect(refused.status).toBe(400);
  expect(refused.body.error.message).toContain("scope");
  await operator.post(`/api/approvals/${approval}/answer`, { behavior: "deny" });
});

test("answers a question", async () => {
  const { operator } = all;
  const question = "Tea or coffee?";
  const options = [
    { label: "tea", description: "hot" },
    { label: "coffee", description: "hotter" },
  ];
  const asked = [{ question, header: "Drink", multiSelect: false, options }];
  const id = await asks(order(["AskUserQuestion", { questions: asked }]));
  const approval = await pendingIn(operator, id);
  const without = await operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow" });
  expect(without.body.error.message).toContain("An answer is missing");
  const answer = { behavior: "allow", answers: { [question]: "tea" }, notes: { [question]: "with milk" } };
  expect((await operator.post(`/api/approvals/${approval}/answer`, answer)).body.answer).toMatchObject(answer);
});

test("answers a custom tool with its result", async () => {
  const { admin, operator } = all;
  const tool = { name: "lookup", description: "Looks an order up.", input_schema: { type: "object" } };
  const definition = { name: "clerk", model: "claude-opus-4-8", custom_tools: [tool] };
  const { body: clerk } = await admin.post("/api/agents", { definition });
  const id = await session(operator, order(["mcp__capstan__lookup", { order: 4711 }]), { agent: { id: clerk.id } });
  const approval = await pendingIn(operator, id);
  expect((await operator.get(`/api/approvals/${approval}`)).body.request).toMatchObject({ kind: "custom_tool" });
  const without = await operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow" });
  expect(without.body.error.message).toContain("lookup");
  const broken = { type: "image", source: { type: "base64", data: "%%%", media_type: "image/png" } };
  const wrong = { behavior: "allow", result: { content: [broken] } };
  expect((await operator.post(`/api/approvals/${approval}/answer`, wrong)).body.error.message).toContain("result");
  const result = { content: "It was sent.", is_error: false };
  const answered = await operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow", result });
  expect(answered.status).toBe(200);
  await until(
    () => idle(operator, id),
    ({ state }) => state.stop_reason.type === "end_turn",
  );
  const { body } = await operator.get(`/api/sessions/${id}/events?types=user.custom_tool_result`);
  expect(body.data).toMatchObject([{ content: [{ type: "text", text: "It was sent." }] }]);
});

test("waiting for an answer ends with the answer, or after the timeout", async () => {
  const { operator, viewer } = all;
  const id = await asks(touch("three.txt"));
  const approval = await pendingIn(operator, id);
  expect((await viewer.get(`/api/approvals/${approval}?wait=0`)).body.status).toBe("pending");
  expect((await viewer.get(`/api/approvals/${approval}?wait=1`)).body.status).toBe("pending");
  const waiting = viewer.get(`/api/approvals/${approval}?wait=30`);
  await operator.post(`/api/approvals/${approval}/answer`, { behavior: "deny", message: "not now" });
  expect((await waiting).body.answer).toMatchObject({ behavior: "deny", message: "not now" });
  expect((await viewer.get("/api/approvals?status=pending&wait=1")).body.data).toEqual([]);
});

test("waiting for a new approval ends when one arrives", async () => {
  const { operator } = all;
  const waiting = operator.get("/api/approvals?status=pending&wait=30");
  const id = await asks(touch("four.txt"));
  const { body } = await waiting;
  expect(body.data).toMatchObject([{ session_id: id }]);
  await operator.post(`/api/approvals/${body.data[0].id}/answer`, { behavior: "deny" });
});

test("a viewer sees the request without its secrets, and cannot answer", async () => {
  const { operator, viewer } = all;
  const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
  const id = await session(operator, order(["Bash", { command: `curl -H 'x-api-key: ${secret}' http://localhost:1` }]));
  const approval = await pendingIn(operator, id);
  expect((await operator.get(`/api/approvals/${approval}`)).body.request.input.command).toContain(secret);
  const [listed] = (await viewer.get(`/api/approvals?session_id=${id}`)).body.data;
  for (const seen of [(await viewer.get(`/api/approvals/${approval}`)).body, listed]) {
    expect(JSON.stringify(seen)).not.toContain(secret);
    expect(seen.request.input.command).toContain("[redacted:");
  }
  const refused = await viewer.post(`/api/approvals/${approval}/answer`, { behavior: "allow" });
  expect(refused.status).toBe(403);
  expect(refused.body.error.message).toContain("requires a key with the role operator");
  await operator.post(`/api/approvals/${approval}/answer`, { behavior: "deny" });
});

test("viewers cannot read input changed by an answer, and it is gone once acted on", async () => {
  const { operator, viewer, api } = all;
  const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
  const id = await session(operator, order(["Bash", { command: `true ${secret}` }]));
  const approval = await pendingIn(operator, id);
  const seen = async (person: Person): Promise<string> => {
    const one = (await person.get(`/api/approvals/${approval}`)).body;
    const listed = (await person.get(`/api/approvals?session_id=${id}`)).body;
    expect(listed.data).toEqual([one]);
    return JSON.stringify(one);
  };
  // No host drives the session, so the answer stays pending.
  await (await api.host.attend(id)).close();
  const input = { command: `echo ${secret}` };
  const answer = { behavior: "allow" as const, input, by: "operator", from: "api", at: Date.now() };
  await api.store.approvals.answer(approval, answer, []);
  expect(await seen(operator)).toContain(`echo ${secret}`);
  const shown = await seen(viewer);
  expect(shown).toContain('"status":"answered"');
  expect(shown).toContain("[redacted:");
  expect(shown).not.toContain(secret);

  await api.host.attend(id);
  await until(
    () => idle(operator, id),
    ({ state }) => state.stop_reason.type === "end_turn",
  );
  expect((await operator.get(`/api/approvals/${approval}`)).body).toMatchObject({ status: "settled" });
  for (const person of [operator, viewer]) expect(await seen(person)).not.toContain(secret);
  using database = new DatabaseSync(join(api.home, "capstan.db"));
  expect(JSON.stringify(database.prepare("SELECT * FROM approvals WHERE id = ?").get(approval))).not.toContain(secret);
});

test("approvals of another project are not found", async () => {
  const { operator, stranger } = all;
  const id = await asks(touch("five.txt"));
  const approval = await pendingIn(operator, id);
  expect((await stranger.get("/api/approvals")).body.data).toEqual([]);
  expect((await stranger.get(`/api/approvals?session_id=${id}`)).status).toBe(404);
  expect((await stranger.get(`/api/approvals/${approval}`)).status).toBe(404);
  const answered = await stranger.post(`/api/approvals/${approval}/answer`, { behavior: "allow" });
  expect(answered.status).toBe(404);
  expect(answered.body.error.type).toBe("not_found_error");
  expect((await operator.get(`/api/approvals/${approval}`)).body.status).toBe("pending");
  await operator.post(`/api/approvals/${approval}/answer`, { behavior: "deny" });
});

test("rejects wrong answers and names the wrong field", async () => {
  const { operator, admin } = all;
  const id = await asks(touch("never.txt"));
  const approval = await pendingIn(operator, id);
  const send = async (body: unknown, person = operator): Promise<string> => {
    const refused = await person.post(`/api/approvals/${approval}/answer`, body);
    expect(refused.status).toBe(400);
    return refused.body.error.message as string;
  };
  expect(await send({ behavior: "maybe" })).toContain("behavior");
  expect(await send({ behavior: "allow", until: "tomorrow" })).toContain('"until"');
  expect(await send({ behavior: "allow", scope: "project" })).toContain("may not be remembered");
  expect(await send({ behavior: "allow", rules: ["Bash(touch *)"] }, admin)).toContain("scope");
  expect(await send({ behavior: "allow", result: { content: "x" } })).toContain("result");
  expect(await send([])).toContain("expected object");
  expect((await operator.get("/api/approvals?wait=61")).body.error.message).toContain("wait");
  expect((await operator.get("/api/approvals?waits=1")).body.error.message).toContain('"waits"');
  await operator.post(`/api/approvals/${approval}/answer`, { behavior: "deny" });
});

test("answering an approval continues a session that no host drives", async () => {
  const { operator, api } = all;
  const id = await session(operator, order(["Bash", { command: "echo woken > woken.txt" }]));
  const approval = await pendingIn(operator, id);
  const driven = await api.host.attend(id);
  await driven.close();
  await operator.post(`/api/approvals/${approval}/answer`, { behavior: "allow" });
  await until(
    () => idle(operator, id),
    ({ state }) => state.stop_reason.type === "end_turn",
  );
  expect(readFileSync(join(api.cwd, "woken.txt"), "utf8")).toBe("woken\n");
});
