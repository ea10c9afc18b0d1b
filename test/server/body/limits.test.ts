import { readdirSync, readFileSync } from "node:fs";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { BodyBudget } from "../../../src/server/body/budget.ts";
import { bodyLimits } from "../../../src/server/body/limits.ts";
import { bodyReaders, readBody, readUpload } from "../../../src/server/body/read.ts";
import { JsonScan } from "../../../src/server/body/scan.ts";
import type { Env } from "../../../src/server/http/context.ts";
import { asApiFailure } from "../../../src/server/http/failure.ts";
import { people, type People } from "../../support/api-people.ts";
import { until } from "../../support/until.ts";

let all: People;
beforeAll(async () => {
  all = await people();
});
afterAll(() => all.api[Symbol.asyncDispose]());

const JSON_HEADERS = { "content-type": "application/json" };
const LIMITS = bodyLimits({ maxBodyBytes: 4_194_304, maxUploadBytes: 4_194_304 });
/** What is found in a text that comes in pieces, wherever they end. */
const excess = (text: string, piece = text.length): string | undefined => {
  const scan = new JsonScan(20_000);
  for (let at = 0; at < text.length; at += piece) {
    const found = scan.add(Buffer.from(text.slice(at, at + piece)));
    if (found !== undefined) return found;
  }
  return undefined;
};
const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const wide = (count: number): string => `[${Array.from({ length: count }, () => "[]").join(",")}]`;

test("counts depth and values before parsing, and not inside strings", () => {
  expect(excess(nested(200))).toBeUndefined();
  expect(excess(nested(201))).toBe("depth");
  expect(excess(`${'{"a":'.repeat(300)}1${"}".repeat(300)}`)).toBe("depth");
  expect(excess(wide(9_000))).toBeUndefined();
  expect(excess(wide(11_000))).toBe("values");
  expect(excess(`[${"1,".repeat(20_000)}1]`)).toBe("values");
  expect(excess(JSON.stringify(Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [at, 1]))))).toBe("values");
  expect(excess(JSON.stringify({ text: `"\\${"[{,".repeat(50_000)}` }))).toBeUndefined();
  for (const piece of [1, 2, 3, 7]) {
    expect(excess(JSON.stringify({ 'a\\"[': `"\\${"[{,".repeat(8_000)}` }), piece)).toBeUndefined();
    expect(excess(`{"\\"":${nested(201)}}`, piece)).toBe("depth");
  }
  // What is no JSON at all must end too.
  for (const broken of ['"', '"\\', '["\\"', "]]]]", "\\"]) expect(excess(broken)).toBeUndefined();
});

test("checks the role before reading the body", async () => {
  const { api, viewer, operator } = all;
  const send = async (key: string, path: string): Promise<number> =>
    (await api.app.request(path, { method: "POST", body: "{", headers: { ...JSON_HEADERS, "x-api-key": key } })).status;
  for (const path of ["/api/sessions", "/api/policy/check", "/api/keys"])
    expect(await send(viewer.key, path)).toBe(403);
  expect(await send(operator.key, "/api/keys")).toBe(403);
  expect(await send(operator.key, "/api/sessions")).toBe(400);
});

test("an error names some of the wrong fields, and the number of others", async () => {
  const { status, body } = await all.viewer.post("/api/policy/replay", {
    permissions: { allow: Array.from({ length: 2_000 }, () => []) },
  });
  expect(status).toBe(400);
  expect(body.error.details.problems).toHaveLength(21);
  expect(body.error.details.problems.at(-1)).toBe("and 1980 more");
  const long = await all.viewer.post("/api/policy/replay", { ["x".repeat(100_000)]: 1 });
  expect(JSON.stringify(long.body).length).toBeLessThan(2_000);
});

test("keeps nothing of an oversized body, though it is read to its end", async () => {
  const budget = new BodyBudget(LIMITS);
  const held: number[] = [];
  const much = async function* (): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < 200; sent += 1) {
      held.push(budget.held);
      yield Buffer.from("[],".repeat(1_000));
    }
  };
  const app = bareApp(LIMITS, budget);
  const answer = await app.request("/api/policy/replay", posted(ReadableStream.from(much())));
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("more than 5000 values");
  expect(held).toHaveLength(200);
  expect(Math.max(...held)).toBeLessThan(50_000);
});

test("only paths that carry messages accept large bodies", async () => {
  const { api, admin } = all;
  const padding = " ".repeat(1_048_576);
  const send = async (path: string): Promise<number> =>
    (
      await api.app.request(path, {
        method: "POST",
        body: `{"no_such_field":1}${padding}`,
        headers: { ...JSON_HEADERS, "x-api-key": admin.key },
      })
    ).status;
  // This server's limit for messages is one mebibyte as well.
  expect(await send("/api/sessions")).toBe(413);
  const app = bareApp({ ...LIMITS });
  const post = (path: string): Promise<Response> =>
    Promise.resolve(app.request(path, { method: "POST", body: `{}${padding}`, headers: JSON_HEADERS }));
  for (const path of ["/api/sessions", "/api/sessions/a/messages", "/api/approvals/a/answer", "/v1/sessions/a/events"])
    expect((await post(path)).status, path).toBe(200);
  for (const path of ["/api/policy/replay", "/api/keys", "/v1/agents", "/api/sessions/a/fork"])
    expect((await post(path)).status, path).toBe(413);
});

/** Every path reads JSON; `/upload` reads what comes and holds none of it. */
function bareApp(limits = LIMITS, budget = new BodyBudget(limits)): Hono<Env> {
  const app = new Hono<Env>();
  app.use(async (c, next) => {
    const name = c.req.header("x-api-key") ?? "one";
    c.set("caller", { id: name, name, project: "default", role: "viewer" });
    await next();
  });
  app.use(bodyReaders(limits, budget));
  app.post("/upload", async (c) => {
    let size = 0;
    for await (const piece of readUpload(c) ?? []) size += piece.byteLength;
    return c.json({ size });
  });
  app.post("*", async (c) => c.json((await readBody(c, z.unknown())) as object));
  app.onError((thrown, c) => {
    const failure = asApiFailure(thrown);
    if (failure.retryAfter !== undefined) c.header("retry-after", String(failure.retryAfter));
    return c.text(failure.message, failure.status as 400);
  });
  return app;
}

/** A body that sends something and then nothing, until it is let go. */
function unfinishedBody(text: string): { readonly body: ReadableStream<Uint8Array>; readonly finish: () => void } {
  const end = Promise.withResolvers<void>();
  return {
    body: ReadableStream.from(
      (async function* () {
        yield new TextEncoder().encode(text);
        await end.promise;
      })(),
    ),
    finish: () => end.resolve(),
  };
}

const posted = (body: ReadableStream<Uint8Array>, key = "one"): RequestInit => ({
  method: "POST",
  body,
  duplex: "half",
  headers: { ...JSON_HEADERS, "x-api-key": key },
});

test("counts a key's unfinished bodies, and releases them when they end", async () => {
  const limits = { ...LIMITS, perKey: 100_000, overall: 150_000 };
  const budget = new BodyBudget(limits);
  const app = bareApp(limits, budget);
  const first = unfinishedBody(`"${"x".repeat(60_000)}"`);
  const waiting = app.request("/", posted(first.body));
  await until(
    () => budget.held,
    (held) => held > 60_000,
  );
  const second = await app.request("/", posted(unfinishedBody(`"${"x".repeat(60_000)}"`).body));
  expect(second.status).toBe(429);
  expect(second.headers.get("retry-after")).toBe("5");
  // Another key has its own share, until there is no room for anybody.
  const other = unfinishedBody('"small"');
  const small = app.request("/", posted(other.body, "two"));
  await until(
    () => budget.held,
    (held) => held > 90_000,
  );
  const third = await app.request("/", posted(unfinishedBody(`"${"x".repeat(60_000)}"`).body, "three"));
  expect(third.status).toBe(503);
  expect(third.headers.get("retry-after")).toBe("5");
  first.finish();
  other.finish();
  expect((await waiting).status).toBe(200);
  expect((await small).status).toBe(200);
  expect(budget.held).toBe(0);
  expect((await app.request("/", posted(ReadableStream.from([Buffer.from('"again"')])))).status).toBe(200);
});

test("a late body and a stalled upload time out", async () => {
  const limits = { ...LIMITS, wholeMs: 50, pieceMs: 50 };
  const budget = new BodyBudget(limits);
  const app = bareApp(limits, budget);
  for (const path of ["/", "/upload"]) {
    const { body, finish } = unfinishedBody('"half');
    const answer = await app.request(path, posted(body));
    expect(answer.status, path).toBe(408);
    finish();
  }
  expect(budget.held).toBe(0);
});

test("bodies of a key that sends many are parsed in turn with those of others", async () => {
  const app = bareApp();
  const done: string[] = [];
  const send = async (key: string): Promise<void> => {
    const answer = await app.request("/", posted(ReadableStream.from([Buffer.from('{"a":1}')]), key));
    expect(answer.status).toBe(200);
    done.push(key);
  };
  const all = [...Array.from({ length: 40 }, () => send("one")), send("two")];
  await Promise.all(all);
  expect(done.indexOf("two")).toBeLessThan(20);
});

test("a compressed body is not opened", async () => {
  const app = bareApp();
  for (const encoding of ["gzip", "br", "deflate"]) {
    const headers = { ...JSON_HEADERS, "content-encoding": encoding };
    expect((await app.request("/", { method: "POST", body: "{}", headers })).status, encoding).toBe(415);
  }
});

test("no route reads a body without the limits", () => {
  const sources = readdirSync("src/server", { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const readers = sources.filter((file) =>
    /\.req\.(?:text|json|parseBody|arrayBuffer|blob|formData)\(|\bbody\b.*req\.raw;|req\.raw\.body/.test(
      readFileSync(`src/server/${file}`, "utf8"),
    ),
  );
  expect(readers).toEqual(["body/read.ts"]);
});
