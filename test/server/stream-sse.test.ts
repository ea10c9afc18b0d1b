import { connect } from "node:net";
import type { Hono } from "hono";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Env } from "../../src/server/http/context.ts";
import type { FeedItem, Follow } from "../../src/server/stream/follower.ts";
import { listen, type Listening } from "../../src/server/listen.ts";
import { type StreamLimits, Streams } from "../../src/server/stream/streams.ts";
import { eventStream } from "../../src/server/stream/stream.ts";
import { agent } from "../support/host.ts";
import { say } from "../support/scripted-model.ts";
import { envelope, type TestServer, testServer } from "./base-support.ts";
import { waitForAbort, endless, messageEvent, shown, streaming } from "./stream-support.ts";

let server: TestServer;
let secret: string;
beforeAll(async () => {
  server = await testServer(() => say("Hello from the model"));
  ({ secret } = await server.key());
});
afterAll(() => server[Symbol.asyncDispose]());

const open: Listening[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

interface Served {
  readonly url: string;
  readonly port: number;
  readonly streams: Streams;
  readonly app: Hono<Env>;
}

async function startServer(v1: Hono<Env>, limits: Partial<StreamLimits> = {}): Promise<Served> {
  const streams = new Streams(limits);
  const { app } = server.app({ v1, streams });
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  open.push(listening);
  return { url: `http://127.0.0.1:${listening.port}`, port: listening.port, streams, app };
}

const get = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/v1/stream`, { headers: { "x-api-key": secret, ...headers } });

/** As much text of an answer as is needed. */
async function textUntil(answer: Response, isEnough: (text: string) => boolean): Promise<string> {
  let text = "";
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (isEnough(text)) break;
  }
  return text;
}

async function* fourItems(): AsyncGenerator<FeedItem> {
  yield messageEvent(1);
  yield {
    type: "event_delta",
    event_id: "sevt_2",
    delta: { type: "content_delta", content: { type: "text", text: "a\nb" } },
  };
  yield messageEvent(2);
  yield messageEvent(3);
}

test("events have a name and a position, previews only a name, and hidden items are not sent", async () => {
  const { url } = await startServer(
    streaming(fourItems, (item) => {
      if ("seq" in item && item.seq === 2) return undefined;
      return "seq" in item && item.seq === 3 ? { type: "agent.custom_tool_use" } : shown(item);
    }),
  );
  const answer = await get(url);
  expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(answer.headers.get("x-accel-buffering")).toBe("no");
  expect((await answer.text()).split("\n\n")).toEqual([
    "retry: 1000",
    `event: agent.message\nid: 1\ndata: ${JSON.stringify(messageEvent(1))}`,
    `event: event_delta\ndata: {"type":"event_delta","event_id":"sevt_2","delta":{"type":"content_delta","content":{"type":"text","text":"a\\nb"}}}`,
    `event: agent.custom_tool_use\nid: 3\ndata: {"type":"agent.custom_tool_use"}`,
    ": there is nothing more to follow",
    "",
  ]);
});

test("a stream resumes after the given event, and rejects invalid ids", async () => {
  const places: number[] = [];
  // oxlint-disable-next-line require-yield -- there is nothing to say
  async function* follow(after: number): AsyncGenerator<FeedItem> {
    places.push(after);
  }
  const { app } = await startServer(streaming(follow));
  for (const id of ["0", "7", "123456789012345", ""])
    await (await app.request("/v1/stream", { headers: { "x-api-key": secret, "last-event-id": id } })).text();
  expect(places).toEqual([0, 7, 123456789012345, 0]);
  for (const id of ["-1", "1.5", "abc", "sevt_1", "1e3", "9".repeat(16), "0x10"]) {
    const answer = await app.request("/v1/stream", { headers: { "x-api-key": secret, "last-event-id": id } });
    expect(answer.status, id).toBe(400);
    expect((await envelope(answer)).error.message).toContain("Last-Event-ID");
  }
});

test("an idle stream sends heartbeats", async () => {
  const { follow } = quiet();
  const { url } = await startServer(streaming(follow), { heartbeatMs: 20 });
  const text = await textUntil(await get(url), (seen) => seen.split("event: ping").length > 3);
  expect(text).toContain('event: ping\ndata: {"type":"ping"}\n\n');
});

test("disconnecting ends the follower", async () => {
  const { follow, seen } = quiet();
  const { url, streams } = await startServer(streaming(follow));
  const answer = await get(url);
  await textUntil(answer, (text) => text.includes("id: 1"));
  await expect.poll(() => seen.ended).toBe(true);
  await expect.poll(() => streams.open).toBe(0);
  expect(streams.cut).toBe(0);

  // Also one that leaves without a word, before anything was said to it.
  const { follow: other, seen: seenOther } = quiet();
  const { port } = await startServer(streaming(other));
  const socket = connect(port, "127.0.0.1");
  socket.write(`GET /v1/stream HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${secret}\r\n\r\n`, () => socket.destroy());
  await expect.poll(() => seenOther.ended).toBe(true);
});

test("a client that disconnects during the key lookup leaves no stream behind", async () => {
  const { follow, seen } = quiet();
  const streams = new Streams();
  const { app } = server.app({ v1: streaming(follow), streams });
  const gone = new AbortController();
  const asking = app.request("/v1/stream", { headers: { "x-api-key": secret }, signal: gone.signal });
  gone.abort();
  // Nobody reads the body of such an answer.
  await asking;
  await expect.poll(() => seen.ended).toBe(true);
  expect(streams.open).toBe(0);
});

test("a page of another site cannot open a stream", async () => {
  const { follow, seen } = quiet();
  const { url, streams } = await startServer(streaming(follow));
  const answer = await get(url, { origin: "https://evil.example" });
  expect(answer.status).toBe(403);
  expect([streams.open, seen.ended]).toEqual([0, false]);
});

function quiet(): { readonly follow: Follow; readonly seen: { ended: boolean } } {
  const seen = { ended: false };
  async function* follow(_after: number, signal: AbortSignal): AsyncGenerator<FeedItem> {
    try {
      yield messageEvent(1);
      await waitForAbort(signal);
    } finally {
      seen.ended = true;
    }
  }
  return { follow, seen };
}

test("a HEAD request leaves no stream behind", async () => {
  const { follow, seen } = quiet();
  const { url, streams } = await startServer(streaming(follow));
  const answer = await fetch(`${url}/v1/stream`, { method: "HEAD", headers: { "x-api-key": secret } });
  expect(answer.headers.get("content-type")).toContain("text/event-stream");
  expect([streams.open, seen.ended]).toEqual([0, false]);
});

test("disconnects a client that reads nothing, and buffers little for it", async () => {
  const { follow, seen } = endless(1_000);
  const { port, streams } = await startServer(streaming(follow), { stallMs: 300, maxWaitingBytes: 10_000 });
  const socket = connect(port, "127.0.0.1");
  socket.pause();
  socket.on("error", () => {});
  socket.write(`GET /v1/stream HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${secret}\r\n\r\n`);
  await expect.poll(() => streams.open).toBe(1);
  await expect.poll(() => streams.cut, { timeout: 20_000 }).toBe(1);
  expect(seen.ended).toBe(true);
  expect(streams.open).toBe(0);
  // The kernel keeps some megabytes for both ends, and the server next to nothing beside.
  expect(seen.taken * 1_000).toBeLessThan(32_000_000);
  socket.destroy();
});

// oxlint-disable-next-line require-yield -- nothing happens
async function* silent(_after: number, signal: AbortSignal): AsyncGenerator<FeedItem> {
  await waitForAbort(signal);
}

test("disconnects a client that does not read heartbeats, even if nothing happens", async () => {
  const { app, streams } = await startServer(streaming(silent), { heartbeatMs: 5, maxWaitingBytes: 200 });
  const answer = await app.request("/v1/stream", { headers: { "x-api-key": secret } });
  await expect.poll(() => streams.cut).toBe(1);
  expect(streams.open).toBe(0);
  await expect(answer.text()).rejects.toThrow("the client did not read");
});

test("waits for a slow client, which gets everything in order and slows no one", async () => {
  const count = 2_000;
  async function* follow(after: number): AsyncGenerator<FeedItem> {
    for (let seq = after + 1; seq <= count; seq += 1) yield messageEvent(seq, 5_000);
  }
  const { url, streams } = await startServer(streaming(follow), { maxWaitingBytes: 10_000, stallMs: 20_000 });
  const slow = await get(url);
  const reader = slow.body?.pipeThrough(new TextDecoderStream()).getReader();
  // The slow one has begun and does not read; another comes and gets all of it meanwhile.
  const first = await reader?.read();
  const all = await (await get(url)).text();
  expect(idsIn(all)).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  expect(streams.open).toBe(1);
  let text = first?.value ?? "";
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
  expect(idsIn(text)).toEqual(idsIn(all));
  expect(streams.cut).toBe(0);
});

const idsIn = (text: string): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

test("a shutdown ends streams with a comment", async () => {
  const { follow } = quiet();
  const { url, streams } = await startServer(streaming(follow));
  const answer = await get(url);
  const text = textUntil(answer, () => false);
  await expect.poll(() => streams.open).toBe(1);
  streams.close();
  expect(await text).toMatch(/id: 1\n[^]*\n\n: the server is shutting down; reconnect with Last-Event-ID\n\n$/);
});

test("a stream ends when its key is revoked", async () => {
  const { secret: other, id } = await server.key();
  const { follow } = quiet();
  const { url, streams } = await startServer(streaming(follow), { heartbeatMs: 20 });
  const answer = await get(url, { "x-api-key": other });
  const text = answer.text();
  await expect.poll(() => streams.open).toBe(1);
  await server.store.registry.keys.revoke(id, Date.now());
  expect(await text).toMatch(/: the key or login is no longer valid\n\n$/);
});

async function* failing(): AsyncGenerator<FeedItem> {
  yield messageEvent(1);
  throw new Error("hunter2");
}

test("an error ends the stream and reveals no internals", async () => {
  const streams = new Streams();
  const { app, lines } = server.app({ v1: streaming(failing), streams });
  const answer = await app.request("/v1/stream", { headers: { "x-api-key": secret } });
  const text = await answer.text();
  const [, data = "{}"] = /event: error\ndata: (.*)\n\n$/.exec(text) ?? [];
  expect(JSON.parse(data)).toMatchObject({
    type: "error",
    error: { type: "api_error" },
    request_id: expect.any(String),
  });
  expect(text).not.toContain("hunter2");
  expect(lines.find(({ level }) => level === "error")).toMatchObject({ fields: { err: expect.any(Error) } });
});

test("follows and resumes a session of a real host without gaps", async () => {
  const { host, cwd } = server;
  const session = await host.startSession({ agent: agent(), cwd });
  await session.send("Hi").result();
  const logged = await host.read(session.id);
  const { url } = await startServer(streaming((after, signal) => host.events(session.id, { after, signal })));
  const last = logged.at(-1)?.seq ?? 0;
  const whole = await textUntil(await get(url), (text) => text.includes(`id: ${last}\n`));
  const middle = String(logged[3]?.seq);
  const rest = await textUntil(await get(url, { "last-event-id": middle }), (text) => text.includes(`id: ${last}\n`));
  expect(idsIn(whole)).toEqual(logged.map(({ seq }) => seq));
  expect(idsIn(rest)).toEqual(logged.slice(4).map(({ seq }) => seq));
  await session.close();
});

test("streams work outside of a complete app", async () => {
  const { Hono } = await import("hono");
  const app = new Hono<Env>().get("/", (c) =>
    eventStream(c, {
      follow: async function* () {
        yield messageEvent(5);
      },
      show: shown,
    }),
  );
  expect(idsIn(await (await app.request("/")).text())).toEqual([5]);
});
