import { once } from "node:events";
import { request } from "node:https";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Hono } from "hono";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { readBody } from "../../src/server/body/read.ts";
import type { Env } from "../../src/server/http/context.ts";
import { type ConnectionLimits, listen, type Listening, type ListenOptions } from "../../src/server/listen.ts";
import { TEST_CERTIFICATE } from "./base-certificate.ts";
import { type Envelope, type TestServer, testServer } from "./base-support.ts";

let server: TestServer;
let secret: string;
beforeAll(async () => {
  server = await testServer();
  ({ secret } = await server.key());
});
afterAll(() => server[Symbol.asyncDispose]());

const open: Listening[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const one of open.splice(0)) await one.close();
});

async function startServer(limits: Partial<ConnectionLimits> = {}, more: Partial<ListenOptions> = {}): Promise<number> {
  const v1 = new Hono<Env>().post("/thing", async (c) => c.json(await readBody(c, z.unknown())));
  const { app } = server.app({ v1 }, { maxBodyBytes: 1_000 });
  const listening = await listen(app, { host: "127.0.0.1", port: 0, limits, ...more });
  open.push(listening);
  return listening.port;
}

function connection(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  sockets.push(socket);
  return socket;
}

/** Resolves when the other end has disconnected. */
function over(socket: Socket): Promise<void> {
  return new Promise((done) => socket.resume().once("end", done).once("close", done));
}

/** Returns the server's response to raw bytes, until it disconnects. */
async function sendRaw(port: number, raw: string): Promise<string> {
  const socket = connection(port);
  socket.write(raw);
  return text(socket);
}

function envelopeIn(answer: string): Envelope {
  return JSON.parse(answer.slice(answer.indexOf("{"))) as Envelope;
}

const QUICK = { headersMs: 100, requestMs: 200, checkEveryMs: 30 };

test("ends an incomplete request with an error", async () => {
  const port = await startServer(QUICK);
  const head = "POST /v1/thing HTTP/1.1\r\nhost: localhost\r\n";
  const body = `content-type: application/json\r\nx-api-key: ${secret}\r\ncontent-length: 100\r\n\r\n{"half":`;
  for (const raw of [head, `${head}${body}`]) {
    const answer = await sendRaw(port, raw);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(envelopeIn(answer).error.message).toContain("did not arrive completely in time");
  }
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
});

test("answers malformed or oversized HTTP in the API's format", async () => {
  const port = await startServer();
  const nonsense = await sendRaw(port, "what is this?\r\n\r\n");
  expect(nonsense).toMatch(/^HTTP\/1\.1 400 /);
  expect(envelopeIn(nonsense).error.message).toContain("not valid HTTP");
  const endless = await sendRaw(
    port,
    `GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: ${"x".repeat(100_000)}\r\n\r\n`,
  );
  expect(endless).toMatch(/^HTTP\/1\.1 431 /);
  const noHost = await sendRaw(port, "GET /health HTTP/1.0\r\n\r\n");
  expect(noHost).toMatch(/^HTTP\/1\.1 400 /);
  const badHost = await sendRaw(port, "GET /health HTTP/1.1\r\nhost: a@b:c/d\r\nconnection: close\r\n\r\n");
  expect(badHost).toMatch(/^HTTP\/1\.1 400 /);
  expect(envelopeIn(badHost).request_id).toMatch(/^req_/);
});

test("answers an upgrade other than WebSocket, and closes it", async () => {
  const port = await startServer();
  const head = `GET /health HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${secret}\r\nconnection: Upgrade\r\n`;
  for (const protocol of ["h2c", "TLS/1.0", "x"]) {
    const answer = await sendRaw(port, `${head}upgrade: ${protocol}\r\n\r\n`);
    expect(answer, protocol).toMatch(/^HTTP\/1\.1 400 /);
    expect(envelopeIn(answer).error.message).toContain("WebSocket");
  }
});

test("counts a body without a length as it arrives", async () => {
  const port = await startServer();
  const chunk = `1f4\r\n${"x".repeat(500)}\r\n`;
  const answer = await sendRaw(
    port,
    `POST /v1/thing HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${secret}\r\ncontent-type: application/json\r\n` +
      `transfer-encoding: chunked\r\nconnection: close\r\n\r\n${chunk.repeat(3)}0\r\n\r\n`,
  );
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  expect(answer).toContain('"type":"request_too_large"');
});

test("a path that leaves its directory is not found", async () => {
  const port = await startServer();
  for (const path of [
    "/v1/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/..%2f..%2fetc/passwd",
    String.raw`/..\..\x`,
  ]) {
    const answer = await sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${secret}\r\nconnection: close\r\n\r\n`,
    );
    expect(answer, path).toMatch(/^HTTP\/1\.1 40[04] /);
  }
});

test("a thousand silent connections lock no one out, and are closed", async () => {
  const port = await startServer({ headersMs: 1_500, checkEveryMs: 50 });
  const silent = Array.from({ length: 1_000 }, () => connection(port));
  await Promise.all(silent.map((socket) => once(socket, "connect")));
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  // They are read from only to see them end.
  await Promise.all(silent.map((socket) => over(socket)));
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
});

test("serves TLS with the given certificate", async () => {
  const port = await startServer({}, { tls: TEST_CERTIFICATE });
  const asking = request({
    host: "127.0.0.1",
    port,
    path: "/health",
    ca: TEST_CERTIFICATE.cert,
    servername: "localhost",
  });
  asking.end();
  const [answer] = (await once(asking, "response")) as [NodeJS.ReadableStream & { statusCode?: number }];
  expect([answer.statusCode, await text(answer)]).toEqual([200, '{"status":"ok"}']);
});

test("a port in use is reported as Node's error", async () => {
  const port = await startServer();
  await expect(startServer({}, { port })).rejects.toMatchObject({ code: "EADDRINUSE" });
});

test("closing also ends connections in use", async () => {
  const port = await startServer();
  const socket = connection(port);
  socket.write("POST /v1/thing HTTP/1.1\r\nhost: localhost\r\n");
  await once(socket, "connect");
  const ended = over(socket);
  await open.splice(0)[0]?.close();
  await ended;
});
