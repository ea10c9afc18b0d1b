import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { say, scriptedModel } from "../support/scripted-model.ts";
import { API_KEY, ask, bytesOf, gatewayTo, MESSAGE, open, rawServer, sse, textDelta, usage } from "./support.ts";

/** Headers that belong to a connection or to where it leads. */
const OWN = [
  "host",
  "content-length",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "authorization",
  "x-api-key",
  "accept-encoding",
];
const pairs = (message: IncomingMessage): string[] => {
  const raw = message.rawHeaders;
  return raw.flatMap((name, i) => (i % 2 === 0 && !OWN.includes(name.toLowerCase()) ? [`${name}: ${raw[i + 1]}`] : []));
};

describe("what the gateway does not need to touch", () => {
  test("reaches the upstream byte for byte, with the same headers as a direct request", async () => {
    const seen: { headers: string[]; body: Buffer; url: string | undefined }[] = [];
    await using upstream = await rawServer(async (req, res) => {
      seen.push({ headers: pairs(req), body: await bytesOf(req), url: req.url });
      res.end("{}");
    });
    await using fixture = await gatewayTo(upstream.url);
    // Odd spacing, escapes and key order, which a second serialisation would not keep.
    const body = Buffer.from('{ "model":"m",\n\t"messages" : [], "x": "\\u00e9é", "n": 1.0 }');
    const headers = {
      "anthropic-beta": "a,b",
      "X-Client-Request-Id": "r1",
      "user-agent": "claude-cli/2",
      "X-Odd": "é",
    };
    const call = { body, path: "/v1/messages?beta=true", headers };
    await ask(upstream.url, call);
    await ask(fixture.access.url, { ...call, token: fixture.access.token });
    const [direct, through] = seen;
    expect(through?.body.equals(body)).toBe(true);
    expect(through?.url).toBe("/v1/messages?beta=true");
    expect(through?.headers.toSorted()).toEqual(direct?.headers.toSorted());
  });

  test("comes back with status, headers and bytes as the upstream sent them", async () => {
    const stream = sse(
      { type: "message_start", message: { usage: usage(1, 1) } },
      { type: "ping" },
      textDelta("é\r\n"),
      { type: "message_stop" },
    );
    await using upstream = await rawServer((_req, res) => {
      res.writeHead(
        200,
        [
          ["Content-Type", "text/event-stream; charset=utf-8"],
          ["Request-Id", "req_1"],
          ["x-should-retry", "true"],
          ["Set-Cookie", "a=1"],
          ["Set-Cookie", "b=2"],
          ["Date", "Thu, 01 Jan 2026 00:00:00 GMT"],
        ].flat(),
      );
      res.end(`${stream}: a comment\n\ngarbage`);
    });
    await using fixture = await gatewayTo(upstream.url);
    const direct = await open(upstream.url);
    const through = await open(fixture.access.url, { token: fixture.access.token });
    expect(through.statusCode).toBe(direct.statusCode);
    expect(pairs(through)).toEqual(pairs(direct));
    expect((await bytesOf(through)).equals(await bytesOf(direct))).toBe(true);
  });

  test.each([400, 404, 413, 500, 503, 529])("passes an error %i on as it is", async (status) => {
    const error = JSON.stringify({ type: "error", error: { type: "some_error", message: "as it was" } });
    await using upstream = await rawServer((_req, res) => {
      res.writeHead(status, { "content-type": "application/json", "x-should-retry": "true", "request-id": "req_9" });
      res.end(error);
    });
    await using fixture = await gatewayTo(upstream.url);
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer).toMatchObject({
      status,
      text: error,
      headers: { "x-should-retry": "true", "request-id": "req_9" },
    });
  });

  test("a large answer waits for an agent that reads slowly, and arrives whole", async () => {
    const piece = Buffer.alloc(1 << 16, "x");
    const pieces = 1000;
    let sent = 0;
    await using upstream = await rawServer(async (_req, res) => {
      for (; sent < pieces; sent += 1) if (!res.write(piece)) await once(res, "drain");
      res.end();
    });
    await using fixture = await gatewayTo(upstream.url, { idleTimeoutMs: 1_000 });
    const answer = await open(fixture.access.url, { token: fixture.access.token });
    answer.pause();
    // Longer than the idle timeout: the agent's slowness is not the upstream's silence.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(sent).toBeLessThan(pieces);
    expect(await bytesOf(answer)).toHaveLength(pieces * piece.length);
  });
});

test("the first bytes arrive while the upstream is still open", async () => {
  const arrived = Promise.withResolvers<void>();
  await using upstream = await rawServer(async (_req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(sse({ type: "ping" }));
    await arrived.promise;
    res.end(sse({ type: "message_stop" }));
  });
  await using fixture = await gatewayTo(upstream.url);
  const answer = await open(fixture.access.url, { token: fixture.access.token });
  const [first] = (await once(answer, "data")) as [Buffer];
  expect(first.toString()).toBe(sse({ type: "ping" }));
  arrived.resolve();
  expect((await bytesOf(answer)).toString()).toBe(sse({ type: "message_stop" }));
});

test("the headers arrive before the first byte of the body", async () => {
  const arrived = Promise.withResolvers<void>();
  await using upstream = await rawServer(async (_req, res) => {
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.flushHeaders();
    await arrived.promise;
    res.end();
  });
  await using fixture = await gatewayTo(upstream.url);
  const answer = await open(fixture.access.url, { token: fixture.access.token });
  expect(answer.statusCode).toBe(200);
  arrived.resolve();
  await bytesOf(answer);
});

test("an agent that hangs up ends the upstream request", async () => {
  const upstreamClosed = Promise.withResolvers<void>();
  await using upstream = await rawServer((_req, res) => {
    res.on("close", () => upstreamClosed.resolve());
    res.writeHead(200, { "content-type": "text/event-stream" });
    res.write(sse({ type: "message_start", message: { usage: usage(70, 1) } }, textDelta("12345678")));
  });
  await using fixture = await gatewayTo(upstream.url);
  const answer = await open(fixture.access.url, { token: fixture.access.token });
  await once(answer, "data");
  answer.destroy();
  await upstreamClosed.promise;
  expect(await fixture.session.firstSettled).toMatchObject({
    isError: true,
    proven: "input",
    usage: { input_tokens: 70 },
  });
});

test("connections to the upstream are used again", async () => {
  const sockets = new Set<unknown>();
  await using upstream = await rawServer((req, res) => {
    sockets.add(req.socket);
    res.end("{}");
  });
  await using fixture = await gatewayTo(upstream.url);
  for (let i = 0; i < 5; i += 1) await ask(fixture.access.url, { token: fixture.access.token });
  expect(sockets.size).toBe(1);
});

describe("credentials on the wire", () => {
  test("the upstream gets its own credential and never the session's token", async () => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    const { token, url } = fixture.access;
    await ask(url, { token, headers: { "x-api-key": token, "accept-encoding": "gzip, br" } });
    const headers = model.requests[0]?.headers ?? {};
    expect(headers).toMatchObject({ "x-api-key": API_KEY, "accept-encoding": "identity" });
    expect(headers["authorization"]).toBeUndefined();
    expect(JSON.stringify(headers)).not.toContain(token);
  });

  test("a token is also taken from x-api-key", async () => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    const headers = { "x-api-key": fixture.access.token, authorization: "" };
    expect((await ask(fixture.access.url, { headers })).status).toBe(200);
  });

  test.each(["", "wrong", "undefined"])("a request with the token %j is refused and goes nowhere", async (token) => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    const answer = await ask(fixture.access.url, { token });
    expect(answer).toMatchObject({ status: 401, error: { type: "authentication_error" } });
    expect(model.requests).toEqual([]);
  });

  test("every session has a token of its own, and a closed one no longer works", async () => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    const other = await fixture.gateway.admit(fixture.session);
    expect(other.token).not.toBe(fixture.access.token);
    expect(other.url).toBe(fixture.access.url);
    await other.close();
    expect((await ask(other.url, { token: other.token })).status).toBe(401);
    expect((await ask(other.url, { token: fixture.access.token })).status).toBe(200);
  });
});

const served = (req: IncomingMessage, res: ServerResponse): void => void res.end(`${req.method} ${req.url}`);

describe("routes", () => {
  test("counting tokens is recorded, and costs nothing", async () => {
    const path = "/v1/messages/count_tokens";
    await using upstream = await rawServer(served);
    await using fixture = await gatewayTo(upstream.url);
    const answer = await ask(fixture.access.url, { token: fixture.access.token, path: `${path}?beta=true&x=1` });
    expect(answer).toMatchObject({ status: 200, text: `POST ${path}?beta=true` });
    expect(fixture.session.reserved).toMatchObject([{ requestClass: "count_tokens", size: undefined }]);
    expect(fixture.session.settled).toMatchObject([{ outcome: { usage: usage(0, 0), proven: "all" } }]);
  });

  test.each([
    ["GET", "/v1/messages"],
    ["POST", "/v1/messages/batches"],
    ["POST", "/v1/messages/../complete"],
    ["GET", "/v1/models"],
    ["GET", "/v1/models/claude-opus-4-8"],
    ["GET", "/v1/models/..%2ffiles"],
    ["POST", "/v1/messages/..%2ffiles"],
    ["POST", "/v1/messages%2fbatches"],
    ["POST", "//v1/messages"],
    ["POST", "/v1/messages/"],
    ["GET", "/api/hello"],
    ["GET", "/"],
  ])("%s %s is not served", async (method, path) => {
    await using upstream = await rawServer(served);
    await using fixture = await gatewayTo(upstream.url);
    const answer = await ask(fixture.access.url, { token: fixture.access.token, method, path });
    expect(answer).toMatchObject({ status: 404, error: { type: "not_found_error" } });
  });

  test.each([
    ["nothing", ""],
    ["text", "model: x"],
    ["a compressed body", gzipSync(JSON.stringify(MESSAGE))],
    ["null", "null"],
    ["a list", "[]"],
    ["no model", "{}"],
    ["a model that is no name", '{"model":7}'],
    ["a model that leads elsewhere", '{"model":"../../v1/files"}'],
    ["a model that leads elsewhere below", '{"model":"claude/../../files"}'],
    ["a model in code", '{"model":"..%2f..%2ffiles"}'],
    ["a model with a question", '{"model":"claude?x=1"}'],
    ["a model with a line", '{"model":"claude\\nx"}'],
  ])("a body that is %s is refused before a reservation", async (_name, body) => {
    await using model = await scriptedModel(() => say("hello"));
    await using fixture = await gatewayTo(model.url);
    const answer = await ask(fixture.access.url, { token: fixture.access.token, body });
    expect(answer).toMatchObject({ status: 400, error: { type: "invalid_request_error" } });
    expect(model.requests).toEqual([]);
    expect(fixture.session.reserved).toEqual([]);
  });
});
