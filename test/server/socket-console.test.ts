import { once } from "node:events";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { LoginCookie } from "../../src/server/http/cookie.ts";
import type { Frame } from "../../src/server/stream/follower.ts";
import { listen, type Listening } from "../../src/server/listen.ts";
import { LoginTokens } from "../../src/server/http/login.ts";
import { type StreamLimits, Streams } from "../../src/server/stream/streams.ts";
import type { Session } from "../../src/runtime/session.ts";
import { engineOpenings } from "../support/engine-openings.ts";
import { agent } from "../support/host.ts";
import { say } from "../support/scripted-model.ts";
import { type TestServer, testServer } from "./base-support.ts";

let server: TestServer;
let secret: string;
let session: Session;
/** A log that is larger than what lies between two ends of a connection. */
let large: Session;
beforeAll(async () => {
  const flood = "x".repeat(400_000);
  server = await testServer(({ last }) => say(last.includes("flood") ? flood : "Hello"));
  ({ secret } = await server.key("viewer"));
  session = await server.host.startSession({ agent: agent(), cwd: server.cwd });
  await session.send("Hi").result();
  large = await server.host.startSession({ agent: agent(), cwd: server.cwd });
  for (let n = 0; n < 4; n += 1) await large.send("flood").result();
});
afterAll(() => server[Symbol.asyncDispose]());

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function startServer(
  limits: Partial<StreamLimits> = {},
): Promise<{ url: string; streams: Streams; listening: Listening; cookie: LoginCookie }> {
  const streams = new Streams(limits);
  const cookie = new LoginCookie({ secret: new Uint8Array(32), isSecure: false, ended: new Set() });
  const { app } = server.app({ streams, login: { cookie, tokens: new LoginTokens(server.deps.clock) } });
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  open.push({ [Symbol.asyncDispose]: () => listening.close() });
  return { url: `ws://127.0.0.1:${listening.port}/api/sessions`, streams, listening, cookie };
}

interface Client {
  readonly socket: WebSocket;
  readonly frames: Frame[];
  readonly closed: Promise<readonly [code: number, reason: string]>;
}

function client(url: string, headers: Record<string, string> = { "x-api-key": secret }): Client {
  const socket = new WebSocket(url, { headers });
  const frames: Frame[] = [];
  socket.on("message", (data) => frames.push(JSON.parse((data as Buffer).toString()) as Frame));
  socket.on("error", () => {});
  const closed = once(socket, "close").then(([code, reason]) => [code as number, String(reason)] as const);
  return { socket, frames, closed };
}

/** The status of a handshake that is refused. */
async function refusal(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const socket = new WebSocket(url, { headers });
  socket.on("error", () => {});
  const [, answer] = (await once(socket, "unexpected-response")) as [unknown, { statusCode?: number }];
  return answer.statusCode;
}

test("sends a session as frames with names and positions, from the start or a position", async () => {
  const { url } = await startServer();
  const logged = await server.host.read(session.id);
  const all = client(`${url}/${session.id}/socket`);
  await expect.poll(() => all.frames.length).toBe(logged.length);
  expect(all.frames).toEqual(logged.map((event) => ({ event: event.type, id: event.seq, data: event })));
  const rest = client(`${url}/${session.id}/socket?after=${logged[2]?.seq}`);
  await expect.poll(() => rest.frames.length).toBe(logged.length - 3);
  all.socket.close();
  rest.socket.close();
});

test("cuts long texts on request", async () => {
  const { url } = await startServer();
  const { frames, socket } = client(`${url}/${large.id}/socket?clip=1000`);
  await expect.poll(() => frames.at(-1)?.id).toBe(await server.host.head(large.id));
  expect(frames.filter(({ data }) => (data as { clipped?: true }).clipped)).toHaveLength(4);
  expect(Math.max(...frames.map((frame) => JSON.stringify(frame).length))).toBeLessThan(5_000);
  socket.close();
});

test("sends events and previews as they happen", async () => {
  const { url } = await startServer();
  const { frames, socket } = client(
    `${url}/${session.id}/socket?after=${(await server.host.read(session.id)).at(-1)?.seq}`,
  );
  await once(socket, "open");
  await session.send("Again").result();
  await expect.poll(() => frames.some(({ event }) => event === "session.status_idle")).toBe(true);
  const previews = frames.filter(({ event }) => event === "event_start" || event === "event_delta");
  expect(previews.length).toBeGreaterThan(0);
  expect(previews.every(({ id }) => id === undefined)).toBe(true);
  socket.close();
});

test("rejects callers without access", async () => {
  const { url, cookie } = await startServer();
  const { secret: stranger } = await server.key("admin", "/elsewhere");
  const path = `${url}/${session.id}/socket`;
  expect(await refusal(path, {})).toBe(401);
  expect(await refusal(path, { "x-api-key": stranger })).toBe(404);
  expect(await refusal(`${url}/sesn_unknown/socket`, { "x-api-key": secret })).toBe(404);
  expect(await refusal(path, { "x-api-key": secret, origin: "https://evil.example" })).toBe(403);
  expect(await refusal(path, { "x-api-key": secret, host: "evil.example" })).toBe(403);
  const { host } = new URL(url);
  for (const broken of [`${host}.evil`, `${host}.evil:1`, "a b", "[::1"])
    expect(await refusal(path, { "x-api-key": secret, host: broken }), broken).toBe(400);
  expect(await refusal(`${path}?after=nonsense`, { "x-api-key": secret })).toBe(400);
  expect(await refusal(`${path}?clip=nonsense`, { "x-api-key": secret })).toBe(400);
  // Nobody can have seen what is not there yet.
  const head = await server.host.head(session.id);
  expect(await refusal(`${path}?after=${head + 1}`, { "x-api-key": secret })).toBe(400);

  const person = { project: "default", role: "viewer", id: "browser", name: "ada" } as const;
  const login = cookie.issue(person, server.deps.clock.now()).split(";")[0] ?? "";
  const own = url.replace("ws:", "http:").replace("/api/sessions", "");
  const inside = client(path, { cookie: login, origin: own });
  await once(inside.socket, "open");
  inside.socket.close();
  expect(await refusal(path, { cookie: login, origin: "http://127.0.0.1:1" })).toBe(403);
});

test("a plain request to the address explains it", async () => {
  const { app } = server.app();
  const answer = await app.request(`/api/sessions/${session.id}/socket`, { headers: { "x-api-key": secret } });
  expect(answer.status).toBe(426);
  expect(await answer.text()).toContain("requires a WebSocket");
  // Whoever got no socket can ask why.
  const why = await app.request(`/api/sessions/${session.id}/socket?after=99999`, { headers: { "x-api-key": secret } });
  expect(why.status).toBe(400);
  expect(await why.text()).toContain("the log of this session ends at");
});

test("a client may send only short pings", async () => {
  const { url } = await startServer();
  const path = `${url}/${session.id}/socket`;
  const polite = client(path);
  await once(polite.socket, "open");
  polite.socket.send('{"type":"ping"}');
  await expect.poll(() => polite.frames.some(({ event }) => event === "pong")).toBe(true);
  polite.socket.close();
  for (const said of ['{"type":"user.message"}', "nonsense", '{"type":"ping","more":1}', Buffer.from("binary")]) {
    const { socket, closed } = client(path);
    await once(socket, "open");
    socket.send(said);
    expect(await closed).toEqual([1008, 'only {"type":"ping"} may be sent here']);
  }
  const { socket, closed } = client(path);
  await once(socket, "open");
  socket.send("x".repeat(2_000));
  expect((await closed)[0]).toBe(1009);
});

test("sends heartbeats, and disconnects a client that does not respond", async () => {
  const { url, streams } = await startServer({ heartbeatMs: 250 });
  const path = `${url}/${session.id}/socket`;
  const alive = client(path);
  await expect.poll(() => alive.frames.filter(({ event }) => event === "ping").length).toBeGreaterThan(3);
  alive.socket.close();
  await alive.closed;
  const dead = new WebSocket(path, { headers: { "x-api-key": secret }, autoPong: false });
  dead.on("error", () => {});
  await once(dead, "close");
  await expect.poll(() => streams.open).toBe(0);
});

test("disconnects a client that does not read, which can resume", async () => {
  const { url, streams } = await startServer({ stallMs: 300, maxWaitingBytes: 10_000 });
  const path = `${url}/${large.id}/socket`;
  const { socket, closed } = client(path);
  await once(socket, "open");
  socket.pause();
  // Until more was said than the network itself keeps between two ends.
  while (streams.cut === 0) await large.send("flood").result();
  socket.terminate();
  await closed;
  const last = (await server.host.read(large.id)).at(-1)?.seq;
  const back = client(`${path}?after=0`);
  await expect.poll(() => back.frames.at(-1)?.id, { timeout: 20_000 }).toBe(last);
  back.socket.close();
});

test("disconnects a client that sends pings and reads no answers", async () => {
  const pings: readonly ((socket: WebSocket) => void)[] = [
    (socket) => socket.send('{"type":"ping"}'),
    (socket) => socket.ping(),
  ];
  for (const ping of pings) {
    // Nothing else would cut it in the time that this takes.
    const { url, streams } = await startServer({ stallMs: 600_000, maxWaitingBytes: 10_000 });
    const { socket, closed } = client(`${url}/${large.id}/socket`);
    await once(socket, "open");
    socket.pause();
    while (streams.cut === 0) {
      ping(socket);
      await large.send("flood").result();
    }
    await expect.poll(() => streams.open).toBe(0);
    socket.terminate();
    await closed;
  }
});

test("an operator who attaches wakes a hibernated session; a viewer does not", async () => {
  const { url } = await startServer();
  const { secret: operator } = await server.key("operator");
  await using openings = await engineOpenings();
  const sleeping = await server.host.startSession({ agent: agent({ mcp_servers: openings.servers }), cwd: server.cwd });
  await sleeping.send("Hi").result();
  await sleeping.hibernate();
  const before = openings.count();
  const viewing = client(`${url}/${sleeping.id}/socket`);
  await expect.poll(() => viewing.frames.length).toBeGreaterThan(0);
  expect(openings.count()).toBe(before);
  const steering = client(`${url}/${sleeping.id}/socket`, { "x-api-key": operator });
  await expect.poll(openings.count).toBe(before + 1);
  for (const { socket } of [viewing, steering]) socket.close();
});

test("an unresponsive socket does not block closing", async () => {
  const { url, listening } = await startServer();
  const { socket, closed } = client(`${url}/${session.id}/socket`);
  await once(socket, "open");
  socket.pause();
  await listening.close();
  socket.resume();
  expect((await closed)[0]).toBe(1006);
});

test("a shutdown is announced; a revoked key ends the socket", async () => {
  const { url, streams } = await startServer({ heartbeatMs: 20 });
  const { secret: other, id } = await server.key("viewer");
  const lapsing = client(`${url}/${session.id}/socket`, { "x-api-key": other });
  await expect.poll(() => lapsing.frames.length).toBeGreaterThan(0);
  await server.store.registry.keys.revoke(id, Date.now());
  expect(await lapsing.closed).toEqual([1008, "the key or login is no longer valid"]);
  const staying = client(`${url}/${session.id}/socket`);
  await expect.poll(() => staying.frames.length).toBeGreaterThan(0);
  streams.close();
  expect(await staying.closed).toEqual([1001, "the server is shutting down; reconnect with ?after="]);
});
