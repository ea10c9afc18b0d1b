import { connect, type Socket } from "node:net";
import { Hono } from "hono";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type AnswerLimits, WaitingAnswers } from "../../../src/server/answers/waiting.ts";
import type { Env } from "../../../src/server/http/context.ts";
import { type Listening, listen } from "../../../src/server/listen.ts";
import { Streams } from "../../../src/server/stream/streams.ts";
import { until } from "../../support/until.ts";
import { type Line, type TestServer, testServer } from "../base-support.ts";
import { endless, streaming } from "../stream-support.ts";

const MEBIBYTE = 1_048_576;
let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Served {
  readonly answers: WaitingAnswers;
  readonly streams: Streams;
  readonly lines: Line[];
  /** Sends a request and never reads a byte of the response. */
  readonly ask: (path: string, secret: string) => Socket;
  readonly get: (path: string, secret: string) => Promise<Response>;
}

async function startServer(v1: Hono<Env>, limits: Partial<AnswerLimits>): Promise<Served> {
  // Only the limits decide in these tests.
  const answers = new WaitingAnswers({ stallMs: 600_000, ...limits });
  const streams = new Streams({ stallMs: 600_000, heartbeatMs: 600_000 });
  const { app, lines } = server.app({ v1, answers, streams });
  const listening: Listening = await listen(app, { host: "127.0.0.1", port: 0 });
  closing.push(() => listening.close());
  const { port } = listening;
  return {
    answers,
    streams,
    lines,
    ask(path, secret) {
      const socket = connect(port, "127.0.0.1").pause();
      closing.push(() => socket.destroy());
      socket.on("error", () => {});
      socket.write(`GET /v1${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx-api-key: ${secret}\r\n\r\n`);
      return socket;
    },
    get: (path, secret) => fetch(`http://127.0.0.1:${port}/v1${path}`, { headers: { "x-api-key": secret } }),
  };
}

/** `/large` is entirely in memory; `/source` is read as far as the client reads it. */
function parts(): { readonly v1: Hono<Env>; readonly read: { bytes: number; isCancelled: boolean } } {
  const read = { bytes: 0, isCancelled: false };
  const v1 = new Hono<Env>()
    .get("/large", (c) => c.body(new Uint8Array(8 * MEBIBYTE)))
    .get("/small", (c) => c.text("small"))
    .get("/source", (c) =>
      c.body(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            read.bytes += 65_536;
            controller.enqueue(new Uint8Array(65_536));
          },
          cancel() {
            read.isCancelled = true;
          },
        }),
      ),
    );
  return { v1, read };
}

/** How many requests the server has answered or rejected. */
const requests = (lines: readonly Line[]): number => lines.filter(({ text }) => text === "request").length;

test("unread answers stay within their key's limit, and other keys are answered", async () => {
  const { secret } = await server.key();
  const other = await server.key();
  const { answers, ask, get, lines } = await startServer(parts().v1, { perKey: 20 * MEBIBYTE });
  let most = 0;
  for (let count = 1; count <= 12; count += 1) {
    ask("/large", secret);
    await until(
      () => requests(lines),
      (done) => done === count,
    );
    most = Math.max(most, answers.overall);
  }
  // The answer that exceeds the limit is the last.
  expect(most).toBeGreaterThan(10 * MEBIBYTE);
  expect(most).toBeLessThan(28 * MEBIBYTE);
  const refused = await get("/small", secret);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining("unread responses") } });
  expect(await (await get("/small", other.secret)).text()).toBe("small");
});

test("answers that nobody reads stay within the limit of all keys together", async () => {
  const [one, other, third] = [await server.key(), await server.key(), await server.key()];
  const limits = { perKey: 100 * MEBIBYTE, overall: 10 * MEBIBYTE };
  const { answers, ask, get } = await startServer(parts().v1, limits);
  for (const { secret } of [one, other]) ask("/large", secret);
  await until(
    () => answers.overall,
    (bytes) => bytes > limits.overall,
  );
  const refused = await until(
    () => get("/small", third.secret),
    ({ status }) => status !== 200,
  );
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
});

test("what comes from a source is read only as far as the client takes it, and given up when it leaves", async () => {
  const { secret } = await server.key();
  const { v1, read } = parts();
  const { answers, ask } = await startServer(v1, {});
  const socket = ask("/source", secret);
  // As much as the system takes; then nothing more.
  let before = -1;
  await until(
    () => read.bytes,
    (bytes) => {
      const isStill = bytes > 0 && bytes === before;
      before = bytes;
      return isStill;
    },
  );
  expect(answers.overall).toBeLessThan(MEBIBYTE);
  expect(read.bytes).toBeLessThan(32 * MEBIBYTE);
  socket.destroy();
  await until(
    () => [read.isCancelled, answers.overall],
    ([isCancelled, bytes]) => isCancelled === true && bytes === 0,
  );
});

test("closes and logs a connection that is not read, and frees its bytes", async () => {
  const { secret, id } = await server.key();
  const { answers, ask, lines } = await startServer(parts().v1, { stallMs: 200 });
  const socket = ask("/large", secret);
  const [line] = await until(
    () => lines.filter(({ level }) => level === "warn"),
    (found) => found.length > 0,
  );
  expect(line).toMatchObject({
    text: "closed a connection: the client did not read the response",
    fields: { method: "GET", path: "/v1/large", caller: id, bytes: expect.any(Number) },
  });
  expect(Number(line?.fields["bytes"])).toBeGreaterThan(MEBIBYTE);
  await until(
    () => answers.overall,
    (bytes) => bytes === 0,
  );
  expect(answers.closed).toBe(1);
  socket.destroy();
});

test("many streams of one key together stay within its limit", async () => {
  const { secret } = await server.key();
  const { follow, seen } = endless(10_000);
  const perKey = 4 * MEBIBYTE;
  const { answers, streams, ask, get } = await startServer(streaming(follow), { perKey });
  for (let count = 1; count <= 40; count += 1) ask("/stream", secret);
  await until(
    () => streams.open,
    (open) => open === 40,
  );
  let before = -1;
  await until(
    () => seen.taken,
    (taken) => {
      const isStill = taken > 0 && taken === before;
      before = taken;
      return isStill;
    },
  );
  // In addition to its share, what Node buffers for each connection.
  expect(answers.overall).toBeLessThan(perKey + 40 * 80_000);
  // Alone, each of them would have had 256 KiB.
  expect(answers.overall).toBeLessThan(40 * 262_144);
  for (let count = 41; count <= 80; count += 1) ask("/stream", secret);
  await until(
    async () => (await get("/stream", secret)).status,
    (status) => status === 429,
  );
});
