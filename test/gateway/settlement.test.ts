import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { ModelRequestOutcome, Reservation } from "../../src/core/ports/gateway.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";
import {
  ask,
  bytesOf,
  type Fixture,
  gatewayTo,
  ledger,
  MESSAGE,
  open,
  rawServer,
  sse,
  textDelta,
  usage,
} from "./support.ts";

const START = { type: "message_start", message: { usage: usage(70, 1) } };
const END = [
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
  { type: "message_stop" },
];
const EVENT_STREAM = { "content-type": "text/event-stream" };
const JSON_BODY = { "content-type": "application/json" };
const NOTHING = usage(0, 0);

describe("a reservation", () => {
  test("is awaited before anything is sent", async () => {
    const answered = Promise.withResolvers<Reservation>();
    const asked = Promise.withResolvers<void>();
    await using model = await scriptedModel(() => say("hello"));
    const session = ledger({
      reserve() {
        asked.resolve();
        return answered.promise;
      },
    });
    await using fixture = await gatewayTo(model.url, { session });
    const answer = ask(fixture.access.url, { token: fixture.access.token });
    await asked.promise;
    expect(model.requests).toEqual([]);
    answered.resolve({ granted: true, token: "t" });
    expect((await answer).status).toBe(200);
    expect(model.requests).toHaveLength(1);
  });

  test("that is refused is answered with its message and nothing is sent", async () => {
    await using model = await scriptedModel(() => say("hello"));
    const session = ledger({ reserve: async () => ({ granted: false, message: "The budget of 1 USD is spent." }) });
    await using fixture = await gatewayTo(model.url, { session });
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer).toMatchObject({
      status: 403,
      headers: { "x-should-retry": "false" },
      error: { type: "permission_error", message: "The budget of 1 USD is spent." },
    });
    expect(model.requests).toEqual([]);
    expect(session.settled).toEqual([]);
  });

  test("that throws is answered with a server error and nothing is sent", async () => {
    await using model = await scriptedModel(() => say("hello"));
    const session = ledger({ reserve: () => Promise.reject(new Error("the store is locked")) });
    await using fixture = await gatewayTo(model.url, { session });
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer).toMatchObject({ status: 500, error: { type: "api_error" } });
    expect(answer.error.message).toContain("the store is locked");
    expect(model.requests).toEqual([]);
    expect(session.settled).toEqual([]);
  });

  test("tells the length of the request and its model", async () => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    await ask(fixture.access.url, { token: fixture.access.token });
    expect(fixture.session.reserved).toMatchObject([
      {
        model: MESSAGE.model,
        size: { inputTokens: Math.ceil(JSON.stringify(MESSAGE).length / 3.5), isStream: true, maxTokens: undefined },
        engineAgentId: undefined,
        requestClass: "unknown",
      },
    ]);
  });
});

describe("a settlement", () => {
  test("comes before the last bytes of a stream, and holds back only those", async () => {
    const settling = Promise.withResolvers<void>();
    const mayEnd = Promise.withResolvers<void>();
    const settled = Promise.withResolvers<void>();
    await using upstream = await rawServer(async (req, res) => {
      if (req.method === "GET") return void res.end("{}");
      res.writeHead(200, EVENT_STREAM).write(sse(START, textDelta("hello")));
      await mayEnd.promise;
      res.end(sse(...END));
    });
    const session = ledger({
      settle() {
        settling.resolve();
        return settled.promise;
      },
    });
    await using fixture = await gatewayTo(upstream.url, { session });
    const answer = await open(fixture.access.url, { token: fixture.access.token });
    const received: string[] = [];
    answer.on("data", (chunk: Buffer) => received.push(chunk.toString()));
    await once(answer, "data");
    mayEnd.resolve();
    await settling.promise;
    await roundTrip(fixture);
    // The upstream has said everything by now, and the agent still lacks the end.
    expect(received.join("")).toBe(sse(START, textDelta("hello")));
    settled.resolve();
    await once(answer, "end");
    expect(received.join("")).toBe(sse(START, textDelta("hello"), ...END));
  });

  test.each([
    ["with a length", { "content-length": "2" }],
    ["without a length", {}],
  ])("comes before the last byte of an answer in one piece, %s", async (_name, headers) => {
    const order: string[] = [];
    await using upstream = await rawServer((_req, res) => {
      res.writeHead(200, { ...JSON_BODY, ...headers }).end("{}");
    });
    const session = ledger({
      async settle() {
        await roundTrip(fixture);
        order.push("settled");
      },
    });
    await using fixture = await gatewayTo(upstream.url, { session });
    await ask(fixture.access.url, { token: fixture.access.token });
    order.push("answered");
    expect(order).toEqual(["settled", "answered"]);
  });

  test("that throws cuts the answer off before its end", async () => {
    await using model = await scriptedModel(() => say("hello"));
    const session = ledger({ settle: () => Promise.reject(new Error("disk full")) });
    await using fixture = await gatewayTo(model.url, { session });
    const answer = await open(fixture.access.url, { token: fixture.access.token });
    await expect(bytesOf(answer)).rejects.toThrow("aborted");
    expect(session.settled).toHaveLength(1);
  });

  test("that throws when there was no answer is a server error", async () => {
    const session = ledger({ settle: () => Promise.reject(new Error("disk full")) });
    await using fixture = await gatewayTo(await deadUrl(), { session });
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer).toMatchObject({ status: 500, error: { type: "api_error" } });
    expect(session.settled).toHaveLength(1);
  });
});

interface Ending {
  readonly name: string;
  readonly upstream?: (req: IncomingMessage, res: ServerResponse) => void;
  readonly act?: (fixture: Fixture, answer: Promise<IncomingMessage>) => Promise<void>;
  readonly stream?: boolean;
  readonly outcome: ModelRequestOutcome;
}

const begin = (res: ServerResponse): void =>
  void res.writeHead(200, EVENT_STREAM).write(sse(START, textDelta("x".repeat(40))));
/** What is known of an answer that was cut after 40 letters. */
const CUT = { isError: true, status: 200, usage: usage(70, 10), stopReason: null, proven: "input" } as const;
const NO_ANSWER = { isError: true, status: null, usage: NOTHING, stopReason: null, proven: "nothing" } as const;
/** The provider has said, or cannot know, that nothing was generated. */
const FREE = { ...NO_ANSWER, proven: "all" } as const;

const ENDINGS: readonly Ending[] = [
  {
    name: "a stream that ends well",
    upstream: (_req, res) => void res.writeHead(200, EVENT_STREAM).end(sse(START, textDelta("hello"), ...END)),
    outcome: { isError: false, status: 200, usage: usage(70, 9), stopReason: "end_turn", proven: "all" },
  },
  {
    name: "an answer in one piece",
    stream: false,
    upstream: (_req, res) =>
      void res.writeHead(200, JSON_BODY).end(JSON.stringify({ stop_reason: "max_tokens", usage: usage(5, 6) })),
    outcome: { isError: false, status: 200, usage: usage(5, 6), stopReason: "max_tokens", proven: "all" },
  },
  {
    name: "a stream that ends without its end",
    upstream: (_req, res) => {
      begin(res);
      res.end();
    },
    outcome: CUT,
  },
  {
    name: "an error inside the stream",
    upstream: (_req, res) => {
      begin(res);
      res.end(sse({ type: "error", error: { type: "overloaded_error", message: "busy" } }));
    },
    outcome: CUT,
  },
  {
    name: "a stream that the upstream cuts",
    upstream: (_req, res) => {
      begin(res);
      setImmediate(() => res.destroy());
    },
    outcome: CUT,
  },
  {
    name: "a stream that falls silent",
    upstream: (_req, res) => begin(res),
    outcome: CUT,
  },
  {
    name: "an upstream that never answers",
    upstream: () => {},
    outcome: NO_ANSWER,
  },
  {
    name: "an upstream that hangs up instead of answering",
    upstream: (req) => void req.socket.destroy(),
    outcome: NO_ANSWER,
  },
  {
    name: "an error status",
    upstream: (_req, res) => void res.writeHead(500, JSON_BODY).end('{"error":{"type":"api_error"}}'),
    outcome: { ...FREE, status: 500 },
  },
  {
    name: "an error status that is not the provider's own",
    upstream: (_req, res) => void res.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
    outcome: { ...NO_ANSWER, status: 502 },
  },
  {
    name: "an error that speaks of time",
    upstream: (_req, res) => void res.writeHead(504, JSON_BODY).end('{"error":{"type":"timeout_error"}}'),
    outcome: { ...NO_ANSWER, status: 504 },
  },
  {
    name: "a request that is refused",
    upstream: (_req, res) => void res.writeHead(429).end(),
    outcome: { ...FREE, status: 429 },
  },
  {
    name: "an answer in one piece that is cut",
    stream: false,
    upstream: (_req, res) => {
      res.writeHead(200, { ...JSON_BODY, "content-length": "100" }).write('{"usage":');
      setImmediate(() => res.destroy());
    },
    outcome: { ...NO_ANSWER, status: 200, usage: usage(0, 3) },
  },
  {
    name: "a refused credential",
    upstream: (_req, res) => void res.writeHead(401, JSON_BODY).end('{"error":{"message":"invalid x-api-key"}}'),
    outcome: { ...FREE, status: 401 },
  },
  {
    name: "an agent that hangs up in the middle",
    upstream: (_req, res) => begin(res),
    async act(_fixture, opening) {
      const answer = await opening;
      await once(answer, "data");
      answer.destroy();
    },
    outcome: CUT,
  },
  {
    name: "a session that is closed in the middle",
    upstream: (_req, res) => begin(res),
    async act(fixture, opening) {
      const answer = await opening;
      await once(answer, "data");
      const cut = expect(bytesOf(answer)).rejects.toThrow("aborted");
      await fixture.access.close();
      // Settled when `close` returns, not some time after it.
      expect(fixture.session.settled).toHaveLength(1);
      await cut;
    },
    outcome: CUT,
  },
  {
    name: "a gateway that is closed in the middle",
    upstream: (_req, res) => begin(res),
    async act(fixture, opening) {
      const answer = await opening;
      await once(answer, "data");
      const cut = expect(bytesOf(answer)).rejects.toThrow("aborted");
      await fixture.gateway[Symbol.asyncDispose]();
      expect(fixture.session.settled).toHaveLength(1);
      await cut;
    },
    outcome: CUT,
  },
];

describe("exactly one settlement follows", () => {
  test.each(ENDINGS)("$name", async ({ upstream = () => {}, act, stream = true, outcome }) => {
    await using server = await rawServer(upstream);
    await using fixture = await gatewayTo(server.url, { idleTimeoutMs: 200 });
    const body = JSON.stringify({ ...MESSAGE, stream });
    const opening = open(fixture.access.url, { token: fixture.access.token, body });
    if (act !== undefined) await act(fixture, opening);
    else await bytesOf(await opening).catch(() => {});
    await fixture.session.firstSettled;
    await fixture.access.close();
    expect(fixture.session.settled).toEqual([{ token: "grant-1", outcome }]);
  });

  test("a grant that comes after the agent is gone, and nothing is sent", async () => {
    const grant = Promise.withResolvers<Reservation>();
    const asked = Promise.withResolvers<void>();
    await using model = await scriptedModel(() => say("hello"));
    const session = ledger({
      reserve() {
        asked.resolve();
        return grant.promise;
      },
    });
    await using fixture = await gatewayTo(model.url, { session });
    const opening = open(fixture.access.url, { token: fixture.access.token });
    await asked.promise;
    // Does not wait for the reservation, which may wait for a person.
    await fixture.access.close();
    await expect(opening).rejects.toThrow();
    grant.resolve({ granted: true, token: "late" });
    await session.firstSettled;
    expect(session.settled).toEqual([{ token: "late", outcome: FREE }]);
    expect(model.requests).toEqual([]);
  });

  test("an agent that hangs up before the first byte, when the request was sent", async () => {
    const received = Promise.withResolvers<void>();
    await using server = await rawServer(() => received.resolve());
    await using fixture = await gatewayTo(server.url);
    const hangUp = new AbortController();
    const opening = open(fixture.access.url, { token: fixture.access.token, signal: hangUp.signal });
    await received.promise;
    hangUp.abort();
    await expect(opening).rejects.toThrow();
    await fixture.session.firstSettled;
    expect(fixture.session.settled).toEqual([{ token: "grant-1", outcome: NO_ANSWER }]);
  });

  test("each of two requests at once", async () => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    const call = { token: fixture.access.token };
    await Promise.all([ask(fixture.access.url, call), ask(fixture.access.url, call)]);
    expect(fixture.session.settled.map(({ token }) => token).toSorted()).toEqual(["grant-1", "grant-2"]);
  });
});

describe("an upstream that does not answer", () => {
  test("is a gateway error when it is dead", async () => {
    await using fixture = await gatewayTo(await deadUrl());
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer).toMatchObject({ status: 502, error: { type: "api_error" } });
    expect(answer.error.message).toContain("ECONNREFUSED");
    expect(fixture.session.settled).toEqual([{ token: "grant-1", outcome: FREE }]);
  });

  test("is a timeout when it stays silent before the headers", async () => {
    await using server = await rawServer(() => {});
    await using fixture = await gatewayTo(server.url, { idleTimeoutMs: 50 });
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer).toMatchObject({ status: 504, error: { type: "timeout_error" } });
  });

  test("cuts the agent off when it falls silent within a stream, and lets go of the upstream", async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await rawServer((_req, res) => {
      res.on("close", () => closed.resolve());
      begin(res);
    });
    await using fixture = await gatewayTo(server.url, { idleTimeoutMs: 50 });
    const answer = await open(fixture.access.url, { token: fixture.access.token });
    await expect(bytesOf(answer)).rejects.toThrow("aborted");
    await closed.promise;
  });

  test("is given time while it sends pings", async () => {
    const pings = 8;
    await using server = await rawServer((_req, res) => {
      res.writeHead(200, EVENT_STREAM);
      let sent = 0;
      const timer = setInterval(() => {
        res.write(sse({ type: "ping" }));
        sent += 1;
        if (sent < pings) return;
        clearInterval(timer);
        res.end(sse(START, ...END));
      }, 100);
    });
    await using fixture = await gatewayTo(server.url, { idleTimeoutMs: 500 });
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer.text.match(/event: ping/g)).toHaveLength(pings);
    expect(fixture.session.settled[0]?.outcome.isError).toBe(false);
  });
});

/** Another exchange through the same gateway: bytes that were let go before it have arrived after it. */
async function roundTrip({ access }: Fixture): Promise<void> {
  await ask(access.url, { token: access.token, path: "/nowhere" });
}

/** An address where nothing listens. */
async function deadUrl(): Promise<string> {
  const server = await rawServer(() => {});
  await server[Symbol.asyncDispose]();
  return server.url;
}
