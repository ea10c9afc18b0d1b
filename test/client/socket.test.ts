import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { CapstanApiError, createClient } from "../../src/client/index.ts";

type Handler = (socket: WebSocket) => void;

interface Wire extends AsyncDisposable {
  readonly url: string;
  /** The path of each connection. */
  readonly asked: string[];
}

/** A server that handles each socket with the next of `handlers`, or refuses it; other requests get `status`. */
async function wire(handlers: readonly (Handler | "refused")[], status = 426): Promise<Wire> {
  const asked: string[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer((_, response) => {
    response.writeHead(status, { "content-type": "application/json" });
    const error = { type: status === 404 ? "not_found_error" : "invalid_request_error", message: "no" };
    response.end(JSON.stringify({ type: "error", error, request_id: "req_1" }));
  });
  server.on("upgrade", (request, connection, head) => {
    const handler = handlers[Math.min(asked.length, handlers.length - 1)];
    asked.push(request.url ?? "");
    if (handler === undefined || handler === "refused") connection.end("HTTP/1.1 403 Forbidden\r\n\r\n");
    else sockets.handleUpgrade(request, connection, head, handler);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

const frame = (seq: number): string =>
  JSON.stringify({ event: "agent.message", id: seq, data: { type: "agent.message", seq } });
const PING = JSON.stringify({ event: "ping", data: { type: "ping" } });

const sends =
  (...texts: readonly string[]): Handler =>
  (socket) => {
    for (const text of texts) socket.send(text);
    socket.close();
  };

async function followUpTo(url: string, upTo: number): Promise<number[]> {
  const seen: number[] = [];
  const items = createClient({ baseUrl: url }).sessions.stream("sesn_1", { after: 1, clip: 500, over: "socket" });
  for await (const item of items) {
    if ("seq" in item) seen.push(item.seq);
    if (seen.at(-1) === upTo) break;
  }
  return seen;
}

test("a socket that is cut off resumes without gaps or repeats", async () => {
  await using server = await wire([
    sends(frame(2), PING, frame(3)),
    (socket) => socket.terminate(),
    sends("no frame"),
    sends(frame(4), JSON.stringify({ event: "error", data: { error: { type: "api_error", message: "broken" } } })),
    sends(frame(5), frame(6)),
  ]);
  expect(await followUpTo(server.url, 6)).toEqual([2, 3, 4, 5, 6]);
  expect(server.asked).toEqual([1, 3, 3, 3, 4].map((after) => `/api/sessions/sesn_1/socket?after=${after}&clip=500`));
});

test("a refused socket reports the reason", async () => {
  await using server = await wire(["refused"], 404);
  const refused = await followUpTo(server.url, 9).catch((thrown: unknown) => thrown);
  expect(refused).toBeInstanceOf(CapstanApiError);
  expect(refused).toMatchObject({ status: 404, type: "not_found_error", message: "no" });
});

test("reports a proxy that blocks sockets, and retries", async () => {
  await using server = await wire(["refused", sends(frame(2))]);
  const reasons: string[] = [];
  const items = createClient({ baseUrl: server.url }).sessions.stream("sesn_1", {
    after: 1,
    over: "socket",
    onRetry: (_failures, { message }) => reasons.push(message),
  });
  expect((await items.next()).value).toMatchObject({ seq: 2 });
  await items.return(undefined);
  expect(reasons).toEqual([expect.stringContaining("If there is a proxy, make it forward WebSockets")]);
});

test("aborting between two attempts opens no more connections", async () => {
  await using server = await wire([(socket) => socket.terminate()]);
  const life = new AbortController();
  const items = createClient({ baseUrl: server.url }).sessions.stream("sesn_1", {
    over: "socket",
    signal: life.signal,
    onRetry: () => life.abort(),
  });
  expect(await items.next()).toEqual({ done: true, value: undefined });
  expect(server.asked).toHaveLength(1);
});

test("rejects a key immediately, because a socket cannot carry one", () => {
  const { sessions } = createClient({ baseUrl: "http://127.0.0.1:9", apiKey: "csk_1" });
  expect(() => sessions.stream("sesn_1", { over: "socket" })).toThrow(/over events/);
});

test("aborting leaves no connection behind", async () => {
  const gone = Promise.withResolvers<void>();
  await using server = await wire([
    (socket) => {
      socket.once("close", () => gone.resolve());
      socket.send(frame(2));
    },
  ]);
  const life = new AbortController();
  const seen: unknown[] = [];
  for await (const item of createClient({ baseUrl: server.url }).sessions.stream("sesn_1", {
    over: "socket",
    signal: life.signal,
  })) {
    seen.push(item);
    life.abort();
  }
  await gone.promise;
  expect(seen).toHaveLength(1);
  expect(server.asked).toHaveLength(1);
});
