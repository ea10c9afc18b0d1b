import { ConflictError, PermissionDeniedError, toFile } from "@anthropic-ai/sdk";
import type { Beta } from "@anthropic-ai/sdk/resources/beta";
import { expect, test } from "vitest";
import { say, text, thinking } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";
import { refusal } from "../support/v1-app.ts";
import { startV1Server } from "../support/v1-server.ts";
import { listEvents, message, ofType, withScript, turn, untilIdle } from "../support/v1-session.ts";

const { app, client, here, newSession } = await startV1Server();
/** One that nothing is ever said to, for requests that are refused or change nothing. */
const quiet = await newSession();
/** One with a turn, for those that only read. */
const spoken = await newSession();
await turn(client, spoken, [message("hello")]);

test("a stream covers a turn from its message to its end, and a later one starts where it is opened", async () => {
  const id = await newSession();
  const stream = await client.beta.sessions.events.stream(id);
  const { data = [] } = await client.beta.sessions.events.send(id, { events: [message("hello")] });
  const first = await untilIdle(stream);
  expect(first[0]).toMatchObject({ ...data[0], type: "user.message", content: [{ type: "text", text: "hello" }] });
  expect(ofType(first, "agent.message")).toMatchObject([{ content: [{ type: "text", text: "ok" }] }]);
  expect(first.at(-1)).toMatchObject({ type: "session.status_idle", stop_reason: { type: "end_turn" } });
  expect(first.every((event) => !("seq" in event))).toBe(true);
  const second = await turn(client, id, [message("again")]);
  expect(ofType(second, "user.message")).toMatchObject([{ content: [{ type: "text", text: "again" }] }]);
  expect(ofType(second, "session.status_idle")).toHaveLength(1);
  // The list is the log, and the streams were parts of it.
  const all = await listEvents(client, id, { limit: 7 });
  const ids = all.map((event) => event.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual((await app.host.read(id)).map((event) => event.id));
  expect(ids).toEqual(expect.arrayContaining([...first, ...second].map((event) => "id" in event && event.id)));
});

const isIdle = ({ status }: { readonly status: string }): boolean => status === "idle";

test("sending before opening the stream misses nothing", async () => {
  const started = await client.beta.sessions.create({ ...here, initial_events: [message("hello")] });
  await until(() => client.beta.sessions.retrieve(started.id), isIdle);
  const first = await untilIdle(await client.beta.sessions.events.stream(started.id));
  expect(ofType(first, "agent.message")).toHaveLength(1);
  await client.beta.sessions.events.send(started.id, { events: [message("again")] });
  await until(() => client.beta.sessions.retrieve(started.id), isIdle);
  const second = await untilIdle(await client.beta.sessions.events.stream(started.id));
  expect(ofType(second, "user.message")).toMatchObject([{ content: [{ text: "again" }] }]);
  // It was told once: the next stream begins with what comes next.
  const third = await turn(client, started.id, [message("more")]);
  expect(ofType(third, "user.message")).toMatchObject([{ content: [{ text: "more" }] }]);
});

test("limits the total size of a request's files before reading any", async () => {
  const file = await toFile(Buffer.alloc(5 * 1_048_576, "x"), "large.txt", { type: "text/plain" });
  const { id: fileId } = await client.beta.files.upload({ file });
  const naming = (count: number): Beta.Sessions.BetaManagedAgentsUserMessageEventParams => ({
    type: "user.message",
    content: Array.from({ length: count }, () => ({ type: "document", source: { type: "file", file_id: fileId } })),
  });
  for (const events of [[naming(5)], [naming(2), naming(3)]]) {
    const error = await refusal(client.beta.sessions.events.send(quiet, { events }));
    expect(error.status).toBe(413);
    expect(error.apiMessage).toContain("more than 20971520 bytes of files");
    const started = await refusal(client.beta.sessions.create({ ...here, initial_events: events }));
    expect(started.status).toBe(413);
  }
  const many = await refusal(client.beta.sessions.events.send(quiet, { events: [naming(101)] }));
  expect(many.status).toBe(400);
  expect(many.apiMessage).toContain("at most 100 blocks");
  expect(ofType((await listEvents(client, quiet)) as never, "user.message")).toEqual([]);
});

test("a stream resumes after Last-Event-ID", async () => {
  const log = await app.host.read(spoken);
  const stream = await client.beta.sessions.events.stream(spoken, {}, { headers: { "Last-Event-ID": "3" } });
  const rest = await untilIdle(stream);
  expect(rest.map((event) => "id" in event && event.id)).toEqual(
    log
      .filter(({ seq }) => seq > 3)
      .map((event) => event.id)
      .slice(0, rest.length),
  );
});

test("a stream ends when its session is deleted", async () => {
  const id = await newSession();
  const stream = await client.beta.sessions.events.stream(id);
  await client.beta.sessions.delete(id);
  for await (const _event of stream) {
    // What was told before.
  }
  expect((await refusal(client.beta.sessions.events.stream(id))).status).toBe(404);
});

test("a session that another process drives can be followed without taking it over", async () => {
  const id = await newSession();
  await (await app.host.attend(id)).close();
  await using other = await app.another();
  const driven = await other.resumeSession(id);
  const stream = await client.beta.sessions.events.stream(id);
  await driven.send("hello").result();
  expect(ofType(await untilIdle(stream), "agent.message")).toHaveLength(1);
  const error = await refusal(client.beta.sessions.events.send(id, { events: [message("mine")] }));
  expect(error).toBeInstanceOf(ConflictError);
  expect(error.errorCode).toBe("session_busy");
});

test("lists events backwards, by type and by time", async () => {
  const all = await listEvents(client, spoken);
  expect(await listEvents(client, spoken, { order: "desc", limit: 3 })).toEqual(all.toReversed());
  const messages = await listEvents(client, spoken, { types: ["user.message", "agent.message"], limit: 1 });
  expect(messages.map(({ type }) => type)).toEqual(["user.message", "agent.message"]);
  const later = new Date(Date.now() + 60_000).toISOString();
  expect(await listEvents(client, spoken, { "created_at[gt]": later })).toEqual([]);
  expect(await listEvents(client, spoken, { "created_at[lt]": later })).toEqual(all);
  const idle = all.findLast(({ type }) => type === "session.status_idle");
  const at = idle !== undefined && "processed_at" in idle ? (idle.processed_at ?? "") : "";
  expect(await listEvents(client, spoken, { "created_at[gte]": at, types: ["session.status_idle"] })).toEqual([idle]);
  expect((await refusal(client.beta.sessions.events.list(spoken, { page: "page_x" }))).status).toBe(400);
});

test("sends previews on request, and only the start of thinking", async () => {
  const id = await newSession();
  const reply = { blocks: [thinking("Deep."), text("one two three")] };
  const plain = await withScript(
    app.model,
    () => reply,
    () => turn(client, id, [message("talk")]),
  );
  expect(plain.some(({ type }) => type === "event_start")).toBe(false);
  expect(plain.find(({ type }) => type === "agent.thinking")).not.toHaveProperty("signature");
  const both = await withScript(
    app.model,
    () => reply,
    () => turn(client, id, [message("talk")], { event_deltas: ["agent.message", "agent.thinking"] }),
  );
  const starts = ofType(both, "event_start").map(({ event }) => event);
  expect(starts.map(({ type }) => type)).toEqual(["agent.thinking", "agent.message"]);
  const deltas = ofType(both, "event_delta");
  const [said] = ofType(both, "agent.message");
  expect(new Set(deltas.map(({ event_id }) => event_id))).toEqual(new Set([said?.id]));
  expect(deltas.map(({ delta }) => delta.content.text).join("")).toBe("one two three");
  const some = await withScript(
    app.model,
    () => reply,
    () => turn(client, id, [message("talk")], { event_deltas: ["agent.message"] }),
  );
  expect(ofType(some, "event_start")).toMatchObject([{ event: { type: "agent.message" } }]);
  const wrong = await refusal(client.beta.sessions.events.stream(id, { event_deltas: ["session.error" as never] }));
  expect(wrong.status).toBe(400);
});

test("a stream opened in the middle of a message gets it from its start", async () => {
  const id = await newSession();
  const asked = { event_deltas: ["agent.message" as const] };
  const first = await client.beta.sessions.events.stream(id, asked);
  // Two words, and then nothing more.
  const reply = { blocks: [text("one two three")], pace: 0, stallAfter: 4 };
  await withScript(
    app.model,
    () => reply,
    async () => {
      await client.beta.sessions.events.send(id, { events: [message("talk")] });
      let heard = "";
      for await (const event of first) {
        if (event.type === "event_delta") heard += event.delta.content.text;
        if (heard.includes("two")) break;
      }
      const second = await client.beta.sessions.events.stream(id, asked);
      const seen: Beta.Sessions.BetaManagedAgentsStreamSessionEvents[] = [];
      for await (const event of second) {
        seen.push(event);
        if (event.type === "event_delta") break;
      }
      const [start] = ofType(seen, "event_start");
      expect(ofType(seen, "event_delta")).toMatchObject([
        { event_id: start?.event.id, delta: { content: { text: heard } } },
      ]);
      await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }] });
      await until(() => client.beta.sessions.retrieve(id), isIdle);
    },
  );
});

test("a message may contain images and documents, inline or uploaded", async () => {
  const id = await newSession();
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const upload = async (name: string, type: string, content: Buffer): Promise<string> =>
    (await client.beta.files.upload({ file: await toFile(content, name, { type }) })).id;
  const picture = await upload("a.png", "image/png", Buffer.from(png, "base64"));
  const notes = await upload("a.md", "text/markdown", Buffer.from("# Notes"));
  const events = await turn(client, id, [
    {
      type: "user.message",
      content: [
        { type: "text", text: "look" },
        { type: "image", source: { type: "base64", data: png, media_type: "image/png" } },
        { type: "image", source: { type: "file", file_id: picture } },
        { type: "document", source: { type: "file", file_id: notes }, title: "Notes" },
        { type: "document", source: { type: "text", data: "Plain.", media_type: "text/plain" } },
      ],
    },
  ]);
  expect(ofType(events, "user.message")[0]?.content).toMatchObject([
    { type: "text" },
    { source: { type: "base64", data: png } },
    { source: { type: "base64", data: png, media_type: "image/png" } },
    { source: { type: "text", data: "# Notes" }, title: "Notes" },
    { source: { type: "text", data: "Plain." } },
  ]);
  const sent = JSON.stringify(app.model.requests.at(-1)?.body.messages);
  expect(sent.split(png)).toHaveLength(3);
  expect(sent).toContain("# Notes");
  for (const [source, said] of [
    [{ type: "file", file_id: notes }, "models cannot read as image"],
    [{ type: "file", file_id: "file_gone" }, "Not found: file"],
    [{ type: "base64", data: "###", media_type: "image/png" }, "base64"],
    [{ type: "base64", data: png, media_type: "image/tiff" }, "image/png"],
    [{ type: "url", url: "ftp://x.example" }, "url"],
  ] as const) {
    const content = [{ type: "image", source }] as unknown as Beta.Sessions.BetaManagedAgentsImageBlock[];
    const error = await refusal(client.beta.sessions.events.send(id, { events: [{ type: "user.message", content }] }));
    expect(error.apiMessage).toContain(said);
  }
});

test("interrupting an idle session does nothing", async () => {
  const { data = [] } = await client.beta.sessions.events.send(quiet, { events: [{ type: "user.interrupt" }] });
  expect(data).toMatchObject([{ type: "user.interrupt" }]);
  expect(ofType(await listEvents(client, quiet), "user.interrupt")).toEqual([]);
});

test("an interrupt and a message in one request redirect the session", async () => {
  const id = await newSession();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  await withScript(
    app.model,
    ({ last }) => (last.includes("other") ? say("done") : { ...say("late"), delay: held }),
    async () => {
      const stream = await client.beta.sessions.events.stream(id);
      await client.beta.sessions.events.send(id, { events: [message("one thing")] });
      await until(
        () => listEvents(client, id),
        (events) => events.some(({ type }) => type === "span.model_request_start"),
      );
      await client.beta.sessions.events.send(id, { events: [{ type: "user.interrupt" }, message("other thing")] });
      await untilIdle(stream);
      await until(
        () => listEvents(client, id, { types: ["agent.message"] }),
        (said) => said.length > 0,
      );
    },
  ).finally(release);
  expect((await listEvents(client, id, { types: ["user.interrupt", "user.message"] })).map(({ type }) => type)).toEqual(
    ["user.message", "user.interrupt", "user.message"],
  );
});

test.for([
  ["user.define_outcome", { type: "user.define_outcome", description: "x", rubric: { type: "text", content: "y" } }],
  ["user.tool_result", { type: "user.tool_result", tool_use_id: "sevt_1" }],
  ["system.message", { type: "system.message", content: [{ type: "text", text: "x" }] }],
] as const)("rejects %s by name", async ([what, event]) => {
  const error = await refusal(client.beta.sessions.events.send(quiet, { events: [event as never] }));
  expect(error.apiMessage).toContain(`does not support ${what}`);
});

test.for([
  [{ events: [] }, "events"],
  [{ events: [{ type: "user.shout" }] }, "events.0"],
  [{ events: [{ type: "user.message", content: [] }] }, "must not be empty"],
  [{ events: [{ type: "user.message", content: [{ type: "text", text: "" }] }] }, "must not be empty"],
  [{ events: [{ type: "user.message", content: [{ type: "redacted" }] }] }, "redacted"],
  [{ events: [{ type: "user.message", content: [{ type: "text", text: "x" }], seq: 1 }] }, "seq"],
  [{ events: [{ type: "user.interrupt", session_thread_id: "sthr_x" }] }, "a single thread"],
] as const)("rejects %j", async ([body, said]) => {
  const { status, message: told } = await app.send(`/v1/sessions/${quiet}/events`, { body });
  expect(status).toBe(400);
  expect(told).toContain(said);
});

test("a viewer can only read", async () => {
  const viewer = await app.client("viewer");
  expect((await viewer.beta.sessions.retrieve(quiet)).id).toBe(quiet);
  for (const attempt of [
    () => viewer.beta.sessions.events.send(quiet, { events: [message("hello")] }),
    () => viewer.beta.sessions.create({ ...here }),
    () => viewer.beta.sessions.delete(quiet),
    () => viewer.beta.files.upload({ file: new File(["x"], "x") }),
  ])
    expect(await refusal(attempt())).toBeInstanceOf(PermissionDeniedError);
  const operator = await app.client("operator");
  expect(await refusal(operator.beta.agents.create({ name: "A", model: "m" }))).toBeInstanceOf(PermissionDeniedError);
});
