import { afterAll, beforeAll, expect, test } from "vitest";
import type { LoggedEvent } from "../../src/core/events/events.ts";
import { initialState, reduce } from "../../src/core/session/state.ts";
import { stateToWire } from "../../src/protocol/api/session-state.ts";
import { idle, type People, people, session } from "../support/api-people.ts";
import { order } from "../support/obedient-model.ts";
import { until } from "../support/until.ts";

let all: People;
/** A session whose one call printed a lot. */
let talk: string;
beforeAll(async () => {
  all = await people({ agent: { permissions: { allow: ["Bash(seq *)", "Bash(sleep *)"] } } });
  talk = await session(all.operator, order(["Bash", { command: "seq 2000" }]));
});
afterAll(() => all.api[Symbol.asyncDispose]());

async function events(query = ""): Promise<(LoggedEvent & { clipped?: true })[]> {
  const { status, body } = await all.viewer.get(`/api/sessions/${talk}/events${query}`);
  expect(status).toBe(200);
  return body.data as LoggedEvent[];
}

test("a session shows where its log ends", async () => {
  const { viewer, operator } = all;
  const { head } = (await viewer.get(`/api/sessions/${talk}`)).body;
  expect(head).toBe((await events()).at(-1)?.seq);
  expect(await events(`?after=${head - 2}`)).toHaveLength(2);
  const fresh = (await operator.post("/api/sessions", {})).body;
  expect(fresh.head).toBe((await viewer.get(`/api/sessions/${fresh.id}/events`)).body.data.length);
});

test("returns the state after every event", async () => {
  const { viewer, stranger } = all;
  let state = initialState;
  const at = async (seq: number | string) => viewer.get(`/api/sessions/${talk}/state?at=${seq}`);
  expect((await at(0)).body).toEqual(stateToWire(state));
  const log = await events();
  for (const event of log) {
    state = reduce(state, event, event.seq);
    expect((await at(event.seq)).body).toEqual(JSON.parse(JSON.stringify(stateToWire(state))));
  }
  expect((await at(log.length)).body).toEqual((await viewer.get(`/api/sessions/${talk}`)).body.state);
  const beyond = await at(log.length + 1);
  expect(beyond.status).toBe(400);
  expect(beyond.body.error.message).toContain(`ends at ${log.length}`);
  for (const wrong of ["-1", "x", "1.5"]) expect((await at(wrong)).status).toBe(400);
  expect((await viewer.get(`/api/sessions/${talk}/state`)).body).toEqual((await at(log.length)).body);
  expect((await stranger.get(`/api/sessions/${talk}/state?at=1`)).status).toBe(404);
});

test("computes the state of a long log from its snapshot, or from the start", async () => {
  const { api, viewer } = all;
  const id = await session(all.operator, "hello");
  const { head } = (await viewer.get(`/api/sessions/${id}`)).body;
  const whole = (await viewer.get(`/api/sessions/${id}/state?at=${head}`)).body;
  const early = (await viewer.get(`/api/sessions/${id}/state?at=2`)).body;
  const seq = head - 1;
  await api.store.saveSnapshot(id, { seq, state: await api.host.stateAt(id, seq) });
  expect((await viewer.get(`/api/sessions/${id}/state?at=${head}`)).body).toEqual(whole);
  expect((await viewer.get(`/api/sessions/${id}/state?at=2`)).body).toEqual(early);
});

test("returns one complete event, even if the list cut it", async () => {
  const { viewer, stranger } = all;
  const whole = (await events()).find(({ type }) => type === "agent.tool_result");
  const short = (await events("?clip=200")).find(({ type }) => type === "agent.tool_result");
  if (whole?.type !== "agent.tool_result" || short?.type !== "agent.tool_result") throw new Error("no result");
  const [before, after] = [whole, short].map(({ content = [] }) =>
    content.map((one) => ("text" in one ? one.text : "")),
  );
  expect(after?.join("")).toHaveLength(200);
  expect(before?.join("").startsWith(after?.join("") ?? "?")).toBe(true);
  expect(short).toMatchObject({ clipped: true, id: whole.id, seq: whole.seq, processed_at: whole.processed_at });
  const others = (await events("?clip=1000000")).filter(({ clipped }) => clipped);
  expect(others).toEqual([]);

  expect((await viewer.get(`/api/sessions/${talk}/events/${whole.seq}`)).body).toEqual(whole);
  for (const none of ["0", "9999", "x", "1.5", "-1"])
    expect((await viewer.get(`/api/sessions/${talk}/events/${none}`)).status, none).toBe(404);
  expect((await stranger.get(`/api/sessions/${talk}/events/1`)).status).toBe(404);
  for (const wrong of ["199", "1000001", "all"])
    expect((await viewer.get(`/api/sessions/${talk}/events?clip=${wrong}`)).body.error.message).toContain("clip");
});

test("cuts the events of a stream in the same way", async () => {
  const { api, viewer } = all;
  const leaving = new AbortController();
  const stream = await api.app.request(`/api/sessions/${talk}/stream?clip=200`, {
    headers: { "x-api-key": viewer.key },
    signal: leaving.signal,
  });
  let seen = "";
  for await (const chunk of (stream.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    seen += chunk;
    if (seen.includes("event: session.status_idle")) break;
  }
  leaving.abort();
  const told = [...seen.matchAll(/^event: agent\.tool_result\nid: \d+\ndata: (.*)$/gm)].map(([, data = ""]) =>
    JSON.parse(data),
  );
  expect(told).toEqual((await events("?clip=200")).filter(({ type }) => type === "agent.tool_result"));
});

test("operators can archive and delete an idle session of their project", async () => {
  const { operator, viewer, stranger, api } = all;
  const started = await operator.post("/api/sessions", { message: order(["Bash", { command: "sleep 60" }]) });
  const { id } = started.body;
  await until(
    () => operator.get(`/api/sessions/${id}`),
    ({ body }) => body.state.open_calls.length > 0,
  );
  const archive = `/api/sessions/${id}/archive`;
  for (const refused of [await operator.post(archive), await operator.send("DELETE", `/api/sessions/${id}`)]) {
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({ details: { error_code: "session_running" } });
    expect(refused.body.error.message).toContain(`/api/sessions/${id}/interrupt`);
  }
  await operator.post(`/api/sessions/${id}/interrupt`);
  await idle(operator, id);
  expect((await viewer.post(archive)).status).toBe(403);
  expect((await viewer.send("DELETE", `/api/sessions/${id}`)).status).toBe(403);
  expect((await stranger.post(archive)).status).toBe(404);
  expect((await stranger.send("DELETE", `/api/sessions/${id}`)).status).toBe(404);

  const archived = await operator.post(archive);
  expect(archived.body).toMatchObject({ id, archived_at: expect.any(String) });
  const said = await operator.post(`/api/sessions/${id}/messages`, { content: "more" });
  expect(said.body.error.details.error_code).toBe("session_archived");
  expect((await operator.post(archive)).body.archived_at).toBe(archived.body.archived_at);

  expect((await operator.send("DELETE", `/api/sessions/${id}`)).body).toEqual({ id, deleted: true });
  expect((await viewer.get(`/api/sessions/${id}`)).status).toBe(404);
  expect((await operator.send("DELETE", `/api/sessions/${id}`)).status).toBe(404);
  expect(await api.store.session(id)).toBeUndefined();
});
