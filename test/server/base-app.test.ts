import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { CapstanError } from "../../src/core/errors.ts";
import { readBody, readUpload } from "../../src/server/body/read.ts";
import type { Env } from "../../src/server/http/context.ts";
import { LoginCookie } from "../../src/server/http/cookie.ts";
import { LoginTokens } from "../../src/server/http/login.ts";
import { Streams } from "../../src/server/stream/streams.ts";
import { envelope, type TestServer, testServer } from "./base-support.ts";

let server: TestServer;
let secret: string;
beforeAll(async () => {
  server = await testServer();
  ({ secret } = await server.key());
});
afterAll(() => server[Symbol.asyncDispose]());

/** Routes that do what a test needs. */
function routes(): Hono<Env> {
  return new Hono<Env>()
    .get("/thing", (c) => c.json({ by: c.get("caller").id }))
    .post("/thing", async (c) => c.json(await readBody(c, z.unknown())))
    .post("/files", async (c) => c.json({ bytes: (await buffer(readUpload(c) ?? Readable.from([]))).byteLength }))
    .get("/broken", () => {
      throw new Error("password hunter2 does not fit");
    })
    .get("/busy", () => {
      throw new CapstanError("too_many", "Full.", { data: { retryAfterSeconds: 7 } });
    })
    .get("/closed", () => {
      throw new CapstanError("approval_closed", "It was answered.");
    })
    .get("/driven", () => {
      throw new CapstanError("session_busy", "Another process drives it.");
    })
    .get("/refused", () => {
      throw new HTTPException(415, { message: "Not this." });
    });
}

type Sent = Omit<RequestInit, "headers"> & { readonly headers?: Record<string, string> };

const withKey = (more: Sent = {}): Sent => ({ ...more, headers: { "x-api-key": secret, ...more.headers } });
const json = (body: string): Sent => withKey({ method: "POST", body, headers: { "content-type": "application/json" } });

test("every answer has a request id, and an error repeats it", async () => {
  const { app } = server.app({ v1: routes() });
  const good = await app.request("/v1/thing", withKey());
  expect(good.headers.get("request-id")).toMatch(/^req_[0-9a-f]{24}$/);
  const bad = await app.request("/v1/nothing", withKey());
  expect(bad.status).toBe(404);
  const body = await envelope(bad);
  expect(body).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  expect(body.error.message).toContain("/v1/nothing");
  expect(body.request_id).toBe(bad.headers.get("request-id"));
});

test("a wrong method is answered with the allowed ones", async () => {
  const { app } = server.app({ v1: routes() });
  const answer = await app.request("/v1/thing", withKey({ method: "DELETE" }));
  expect(answer.status).toBe(405);
  expect(answer.headers.get("allow")).toBe("GET, HEAD, POST");
  expect(await envelope(answer)).toMatchObject({ error: { type: "invalid_request_error" } });
});

test.for([
  ["{", "Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
  ['{"a": tru}', `Unexpected token '}', "{"a": tru}" is not valid JSON`],
  ["[1,,2]", `Unexpected token ',', "[1,,2]" is not valid JSON`],
  ['{\n "a": 1\n "b": 2}', "Expected ',' or '}' after property value in JSON at position 11 (line 3 column 2)"],
  ['{"a" 1}', "Expected ':' after property name in JSON at position 5 (line 1 column 6)"],
  ['{"a": "b', "Unterminated string in JSON at position 8 (line 1 column 9)"],
  ["{} {}", "Unexpected non-whitespace character after JSON at position 3 (line 1 column 4)"],
  ["[01]", "Unexpected number in JSON at position 2 (line 1 column 3)"],
])("JSON that is none is refused, and the place is named: %s", async ([body = "", place = ""]) => {
  const { app } = server.app({ v1: routes() });
  const answer = await app.request("/v1/thing", json(body));
  expect(answer.status).toBe(400);
  expect((await envelope(answer)).error.message).toBe(`The body is not valid JSON: ${place}. Fix it there.`);
});

test("valid JSON and an empty body reach their route", async () => {
  const { app } = server.app({ v1: routes() });
  expect(await (await app.request("/v1/thing", json('{"a":[1,"ü"]}'))).json()).toEqual({ a: [1, "ü"] });
  expect((await app.request("/v1/thing", { ...json(""), body: null })).status).not.toBe(401);
});

test("rejects a body that is too large, with or without a declared length", async () => {
  const { app } = server.app({ v1: routes() }, { maxBodyBytes: 1_000, maxUploadBytes: 2_000_000 });
  const large = JSON.stringify("x".repeat(2_000));
  const said = await app.request(
    "/v1/thing",
    withKey({ method: "POST", body: large, headers: { "content-length": "2002" } }),
  );
  const unsaid = await app.request("/v1/thing", { ...json(large), body: slices(large), duplex: "half" });
  for (const answer of [said, unsaid]) {
    expect(answer.status).toBe(413);
    expect(await envelope(answer)).toMatchObject({ error: { type: "request_too_large" } });
  }
  const fits = await app.request("/v1/thing", { ...json(large), body: slices('"fits"'), duplex: "half" });
  expect(await fits.json()).toBe("fits");
  const upload = await app.request("/v1/files", withKey({ method: "POST", body: slices(large), duplex: "half" }));
  expect(await upload.json()).toEqual({ bytes: 2_002 });
});

test("does not parse a viewer's body", async () => {
  const { app } = server.app({ v1: routes() });
  const { secret: viewer } = await server.key("viewer");
  const { headers, ...sent } = json("{");
  const answer = await app.request("/v1/thing", { ...sent, headers: { ...headers, "x-api-key": viewer } });
  expect(answer.status).toBe(403);
  expect((await app.request("/v1/thing", { headers: { "x-api-key": viewer } })).status).toBe(200);
});

test("limits the body of unauthenticated requests", async () => {
  const cookie = new LoginCookie({ secret: Buffer.alloc(32, 1), isSecure: false, ended: new Set() });
  const { app } = server.app({ login: { tokens: new LoginTokens(server.deps.clock), cookie } });
  const body = { method: "POST", duplex: "half" } as const;
  const text = `key=${"x".repeat(20_000)}`;
  const said = await app.request("/login", { ...body, body: text, headers: { "content-length": "20004" } });
  expect(said.status).toBe(413);
  expect((await app.request("/login", { ...body, body: slices(text) })).status).toBe(413);
});

function slices(text: string): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 100) controller.enqueue(bytes.slice(at, at + 100));
      controller.close();
    },
  });
}

const host = (name: string): RequestInit => ({ headers: { host: name } });

test("the server answers only to its own names", async () => {
  const { app: local } = server.app();
  for (const name of ["127.0.0.1:4310", "localhost:4310", "LOCALHOST", "[::1]:4310", "localhost:8080"])
    expect((await local.request("/health", host(name))).status, name).toBe(200);
  for (const name of ["evil.example", "127.0.0.1.evil.example:4310", "10.0.0.7", "localhost.evil.example", "a b", ""]) {
    const answer = await local.request("/health", host(name));
    expect(answer.status, name).toBe(403);
    expect(await envelope(answer)).toMatchObject({ error: { type: "permission_error" } });
  }
  const publicUrl = new URL("https://agents.example.org");
  const { app: proxied } = server.app({ access: { bound: "127.0.0.1", publicUrl } });
  expect((await proxied.request("/health", host("agents.example.org"))).status).toBe(200);
  expect((await proxied.request("/health", host("evil.example"))).status).toBe(403);
  // An IP address cannot be rebound by DNS.
  const { app: everywhere } = server.app({ access: { bound: "0.0.0.0" } });
  expect((await everywhere.request("/health", host("192.168.1.5:4310"))).status).toBe(200);
  expect((await everywhere.request("/health", host("evil.example:4310"))).status).toBe(403);
});

test("pages of other sites can read and change nothing; this server's own pages and programs can", async () => {
  const publicUrl = new URL("https://agents.example.org");
  const { app } = server.app({ v1: routes(), access: { bound: "127.0.0.1", publicUrl } });
  const send = (origin: string | undefined, method = "POST"): Promise<Response> =>
    Promise.resolve(
      app.request(
        "/v1/thing",
        withKey({
          method,
          ...(method === "POST" && { body: "1" }),
          headers: {
            host: "localhost:4310",
            "content-type": "application/json",
            ...(origin !== undefined && { origin }),
          },
        }),
      ),
    );
  for (const origin of [undefined, "http://localhost:4310", "https://agents.example.org"])
    expect((await send(origin)).status, origin).toBe(200);
  for (const origin of ["https://evil.example", "http://localhost:3000", "null", "http://agents.example.org", "x"]) {
    const answer = await send(origin);
    expect(answer.status, origin).toBe(403);
    expect((await envelope(answer)).error.message).toContain("are not allowed");
  }
  for (const [origin, status] of [
    [undefined, 200],
    ["http://localhost:4310", 200],
    ["https://evil.example", 403],
  ] as const) {
    const read = await send(origin, "GET");
    expect(read.status, origin).toBe(status);
    expect(read.headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("answers are not cached, framed or sniffed, including errors", async () => {
  const { app } = server.app({ v1: routes() });
  for (const [path, init] of [
    ["/v1/thing", withKey()],
    ["/v1/thing", {}],
    ["/", {}],
    ["/v1/broken", withKey()],
  ] as const) {
    const { headers } = await app.request(path, init);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toMatch(/default-src '(?:self|none)'.*frame-ancestors 'none'/);
  }
});

test("a server error reveals no internals; the log has them under the request id", async () => {
  const { app, lines } = server.app({ v1: routes() });
  const answer = await app.request("/v1/broken", withKey());
  expect(answer.status).toBe(500);
  const body = await envelope(answer);
  expect(body.error.type).toBe("api_error");
  expect(JSON.stringify(body)).not.toContain("hunter2");
  expect(lines).toMatchObject([
    { level: "error", fields: { id: body.request_id, status: 500, err: { message: "password hunter2 does not fit" } } },
  ]);
});

test("reports errors of the runtime and of hono in the API's format", async () => {
  const { app } = server.app({ v1: routes() });
  const busy = await app.request("/v1/busy", withKey());
  expect(busy.status).toBe(429);
  expect(busy.headers.get("retry-after")).toBe("7");
  expect(await envelope(busy)).toMatchObject({ error: { type: "rate_limit_error", message: "Full." } });
  const refused = await app.request("/v1/refused", withKey());
  expect(refused.status).toBe(400);
  expect(await envelope(refused)).toMatchObject({ error: { type: "invalid_request_error", message: "Not this." } });
});

test("marks final conflicts for clients", async () => {
  const { app } = server.app({ v1: routes() });
  const closed = await app.request("/v1/closed", withKey());
  expect([closed.status, closed.headers.get("x-should-retry")]).toEqual([409, "false"]);
  const driven = await app.request("/v1/driven", withKey());
  expect([driven.status, driven.headers.get("x-should-retry")]).toEqual([409, null]);
});

test("each key has its own limit, which refills over time", async () => {
  const other = await server.key();
  const { app } = server.app({ v1: routes() }, { requestsPerMinute: 3 });
  const get = async (key: string): Promise<Response> => app.request("/v1/thing", { headers: { "x-api-key": key } });
  for (let n = 0; n < 3; n += 1) expect((await get(secret)).status).toBe(200);
  const refused = await get(secret);
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).toBe("20");
  expect(await envelope(refused)).toMatchObject({ error: { type: "rate_limit_error" } });
  expect((await get(other.secret)).status).toBe(200);
  server.pass(20_000);
  expect((await get(secret)).status).toBe(200);
  expect((await get(secret)).status).toBe(429);
});

test("logs one line per request, without query, key or body", async () => {
  const { app, lines } = server.app({ v1: routes() });
  await app.request("/v1/thing?token=very-secret", withKey());
  await app.request("/v1/thing?token=very-secret", json('{"password":"hunter2"}'));
  await app.request("/login?token=very-secret");
  expect(lines.map(({ fields: { method, path, status } }) => [method, path, status])).toEqual([
    ["GET", "/v1/thing", 200],
    ["POST", "/v1/thing", 200],
    ["GET", "/login", 404],
  ]);
  expect(lines[0]?.fields).toMatchObject({ caller: expect.stringMatching(/^key_/), ms: expect.any(Number) });
  for (const word of ["very-secret", "hunter2", secret]) expect(JSON.stringify(lines)).not.toContain(word);
});

test("health needs no key, and readiness ends with the shutdown", async () => {
  const streams = new Streams();
  const { app } = server.app({ streams });
  expect(await (await app.request("/health")).json()).toEqual({ status: "ok" });
  expect(await (await app.request("/ready")).json()).toEqual({ status: "ready" });
  streams.close();
  const answer = await app.request("/ready");
  expect(answer.status).toBe(503);
  expect((await envelope(answer)).error.message).toContain("shutting down");
  expect((await app.request("/health")).status).toBe(200);
});

test("readiness ends when the store does not respond", async () => {
  const own = await testServer();
  const { app, lines } = own.app();
  await own[Symbol.asyncDispose]();
  const answer = await app.request("/ready");
  expect(answer.status).toBe(503);
  expect((await envelope(answer)).error.message).toContain("store");
  expect(lines[0]).toMatchObject({ level: "error", fields: { err: expect.any(Error) } });
});

test("without a console, / shows a page with the next steps", async () => {
  const answer = await server.app().app.request("/");
  expect(answer.headers.get("content-type")).toContain("text/html");
  const html = await answer.text();
  expect(html).toContain("capstan keys create");
  expect(html).toContain('href="/openapi.json"');
  expect(html).not.toContain("<script");
});
