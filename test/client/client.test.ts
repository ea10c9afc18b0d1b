import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CapstanApiError, type CapstanClient, createClient } from "../../src/client/index.ts";
import type { ApiDeps } from "../../src/server/api/deps.ts";
import { idle, type People, people } from "../support/api-people.ts";
import { order } from "../support/obedient-model.ts";
import { sampleRun } from "../support/suite-run.ts";

let all: People;
beforeAll(async () => {
  const ports: Partial<ApiDeps> = {
    credentials: async () => [{ provider: "api_key", name: "Anthropic", present: false, source: null }],
    checkAgent: async () => ({ problems: ["model: there is none"], notes: [], mcp_servers: [] }),
  };
  all = await people({ agent: { permissions: { mode: "accept-edits" } }, ports });
});
afterAll(() => all.api[Symbol.asyncDispose]());

const request: typeof fetch = async (url, init) =>
  all.api.app.request(url instanceof Request ? url : url.toString(), init);

function client({ key }: { readonly key: string }): CapstanClient {
  return createClient({ baseUrl: "http://127.0.0.1/", apiKey: key, fetch: request });
}

async function refusal(work: Promise<unknown>): Promise<CapstanApiError> {
  const thrown: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(thrown instanceof CapstanApiError)) throw new Error("It was not refused.", { cause: thrown });
  return thrown;
}

test("starts, follows and reads a session", async () => {
  const capstan = client(all.operator);
  const { id } = await capstan.sessions.create({ title: "by client" });
  // Previews are not saved: to see them, follow before you send.
  let sending: ReturnType<typeof capstan.sessions.send> | undefined;
  const onConnect = (): void => void (sending ??= capstan.sessions.send(id, "hello"));
  const types: string[] = [];
  for await (const item of capstan.sessions.stream(id, { after: 0, onConnect })) {
    types.push(item.type);
    if (item.type === "session.status_idle" && types.includes("user.message")) break;
  }
  const { after } = (await sending) ?? { after: -1 };
  expect(types[after]).toBe("user.message");
  expect(types).toContain("event_delta");
  expect(types).toContain("agent.message");
  const events = await Array.fromAsync(capstan.sessions.events(id));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect((await capstan.sessions.list({ search: "by client" })).map((one) => one.id)).toEqual([id]);
  expect((await capstan.sessions.get(id)).state.stop_reason).toEqual({ type: "end_turn" });
});

test("waits for approvals and answers them; lists and revokes grants", async () => {
  const capstan = client(all.admin);
  const { id } = await capstan.sessions.create({ message: order(["Bash", { command: "echo a b" }]) });
  const [asked] = await capstan.approvals.list({ status: "pending", session_id: id, wait: 30 });
  if (asked === undefined) throw new Error("Nobody was asked.");
  await capstan.approvals.answer(asked.id, { behavior: "allow", scope: "session" });
  expect((await capstan.approvals.get(asked.id, { wait: 5 })).answer?.behavior).toBe("allow");
  const [grant] = await capstan.grants.list();
  expect(grant).toMatchObject({ rule: "Bash(echo a b)", session_id: id });
  await capstan.grants.revoke(grant?.id ?? "");
  expect(await capstan.grants.list()).toEqual([]);
});

test("lists, reads, compares and rewinds files", async () => {
  const capstan = client(all.operator);
  const message = order(["Write", { file_path: "made.txt", content: "made\n" }]);
  const { id } = await capstan.sessions.create({ message });
  await idle(all.operator, id);
  expect((await capstan.files.list(id)).data.map(({ name }) => name)).toContain("made.txt");
  expect(new TextDecoder().decode(await capstan.files.read(id, "made.txt"))).toBe("made\n");
  expect((await capstan.files.diff(id)).files).toMatchObject([{ path: "made.txt", kind: "added" }]);
  expect(new TextDecoder().decode(await capstan.files.patch(id))).toContain("+made");
  expect(new TextDecoder().decode(await capstan.files.patch(id, { path: "made.txt" }))).toContain("+made");
  expect(await capstan.files.patch(id, { path: 'größe & "1"' })).toHaveLength(0);
  expect((await capstan.files.checkpoints(id)).length).toBeGreaterThan(0);
  expect((await capstan.files.rewind(id, { to: "start" })).files).toMatchObject([{ kind: "deleted" }]);
  expect((await capstan.files.undoRewind(id)).files).toMatchObject([{ kind: "added" }]);
  const zip = await new Response(await capstan.files.exportZip(id)).arrayBuffer();
  expect(Buffer.from(zip).subarray(0, 2).toString()).toBe("PK");
  expect(await new Response(await capstan.sessions.export(id)).text()).toContain('"capstan":1');
});

test("supports the remaining endpoints", async () => {
  const capstan = client(all.admin);
  expect(await capstan.whoami()).toMatchObject({ role: "admin", project: all.api.project });
  expect(await capstan.projects()).toHaveLength(1);
  expect(await capstan.models()).toHaveLength(1);
  expect(await capstan.checkPolicy({ call: "Bash(ls)" })).toMatchObject({ behavior: "ask" });
  expect((await capstan.replayPolicy({ permissions: {} })).data.length).toBeGreaterThan(0);
  expect((await capstan.ledger({ by: "agent" })).data[0]?.key).toBe("tester");
  const split = await capstan.ledger({ by: "day", split: "agent", time_zone: "UTC" });
  expect(split.data[0]).toMatchObject({ key: expect.stringMatching(/^\d{4}-/), part: "tester" });
  const { settings, lines } = await capstan.budgets();
  expect(settings.day?.usd).toBe(5);
  expect(lines).toMatchObject([{ scope: "day", which: "usd", limit: 5 }]);
  expect(await capstan.credentials()).toMatchObject([{ provider: "api_key", present: false }]);
  expect((await capstan.verifyAudit()).sound).toBe(true);
  const agent = await capstan.agents.create({ definition: { name: "a", model: "m" } });
  expect((await capstan.agents.update(agent.id, { definition: { name: "a", model: "n" } })).version).toBe(2);
  expect((await capstan.agents.get(agent.id, { version: 1 })).definition.model).toBe("m");
  expect((await capstan.agents.versions(agent.id)).map(({ version }) => version)).toEqual([2, 1]);
  expect(await capstan.agents.check(agent.id)).toMatchObject({ agent_id: agent.id, version: 2, valid: false });
  expect((await capstan.agents.list({ limit: 1 })).map(({ id }) => id)).toEqual([agent.id]);
  const environment = await capstan.environments.create({ name: "e", definition: {} });
  expect((await capstan.environments.replace(environment.id, { name: "f", definition: {} })).name).toBe("f");
  expect(await capstan.environments.list()).toHaveLength(1);
  const run = sampleRun({ project: all.api.project });
  await all.api.store.suiteRuns.add(run);
  expect((await capstan.suites.list()).map(({ suite }) => suite)).toEqual(["refactor"]);
  expect((await capstan.suites.runs({ suite: "refactor", limit: 5 })).map(({ id }) => id)).toEqual([run.id]);
  expect(await capstan.suites.run(run.id)).toEqual(run);
  expect(await capstan.suites.report(run.id)).toContain("<h1>Passed</h1>");
  await capstan.suites.delete(run.id);
  expect(await refusal(capstan.suites.run(run.id))).toMatchObject({ status: 404, code: "not_found" });
  const key = await capstan.keys.create({ name: "k", role: "viewer" });
  expect((await capstan.keys.revoke(key.id)).revoked_at).not.toBeNull();
  expect((await capstan.keys.list()).length).toBeGreaterThan(1);
});

test("reads a long log from its end, clipped, and one complete event", async () => {
  const capstan = client(all.operator);
  const { id } = await capstan.sessions.create({ message: `hello ${"x".repeat(500)}` });
  await idle(all.operator, id);
  const { head, state } = await capstan.sessions.get(id);
  expect((await capstan.sessions.page(id, { after: head - 1 })).data.map(({ seq }) => seq)).toEqual([head]);
  expect(await capstan.sessions.stateAt(id, head)).toEqual(state);
  expect((await capstan.sessions.stateAt(id, 1)).turns).toBe(0);
  const { data } = await capstan.sessions.page(id, { clip: 200, types: "user.message" });
  const [said] = data;
  expect(said).toMatchObject({ clipped: true });
  const whole = await capstan.sessions.event(id, said?.seq ?? 0);
  expect(JSON.stringify(whole).length - JSON.stringify(said).length).toBeGreaterThan(250);
  for await (const item of capstan.sessions.stream(id, { clip: 200 }))
    if (item.type === "user.message") {
      expect(item).toEqual(said);
      break;
    }
  expect((await capstan.sessions.archive(id)).archived_at).not.toBeNull();
  await capstan.sessions.delete(id);
  expect(await refusal(capstan.sessions.get(id))).toMatchObject({ status: 404 });
});

test("creates, enables, disables and deletes webhooks", async () => {
  const capstan = client(all.admin);
  const made = await capstan.webhooks.create({ url: "https://hooks.example.com/capstan" });
  expect(made.secret).toMatch(/^whsec_/);
  expect((await capstan.webhooks.list()).map(({ id }) => id)).toEqual([made.id]);
  expect((await capstan.webhooks.disable(made.id)).disabled_at).not.toBeNull();
  expect((await capstan.webhooks.enable(made.id)).disabled_at).toBeNull();
  expect((await capstan.webhooks.get(made.id)).url).toBe("https://hooks.example.com/capstan");
  expect(await capstan.webhooks.deliveries(made.id)).toEqual([]);
  await capstan.webhooks.delete(made.id);
  expect(await refusal(capstan.webhooks.get(made.id))).toMatchObject({ status: 404 });
  expect(await refusal(client(all.operator).webhooks.list())).toMatchObject({ status: 403 });
});

test("an error has its status, type, code, message and request id", async () => {
  const missing = await refusal(client(all.viewer).sessions.get("sesn_none/../x"));
  expect(missing).toMatchObject({ status: 404, type: "not_found_error", code: "not_found", isPassing: false });
  expect(missing.message).toContain("sesn_none");
  expect(missing.requestId).toMatch(/^req_/);
  expect(await refusal(client(all.viewer).keys.list())).toMatchObject({ status: 403, code: "not_allowed" });
  const stranger = client({ key: "ck_wrong" });
  expect(await refusal(stranger.whoami())).toMatchObject({ status: 401, type: "authentication_error" });
});

test("distinguishes a server that is not Capstan from one that does not respond", async () => {
  const server: Server = createServer((_, response) => response.writeHead(502).end("<html>bad gateway</html>"));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const capstan = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "k" });
  const proxy = await refusal(capstan.whoami());
  expect(proxy).toMatchObject({ status: 502, isPassing: true });
  expect(proxy.message).toContain("is not from a Capstan server");
  await new Promise((closed) => server.close(closed));
  const gone = await refusal(capstan.whoami());
  expect(gone).toMatchObject({ status: 0, type: "connection_error", isPassing: true });
  expect(gone.message).toContain(`http://127.0.0.1:${port}`);
});
