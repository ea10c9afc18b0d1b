import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Env, requireRole } from "../../src/server/http/context.ts";
import { envelope, type TestServer, testServer } from "./base-support.ts";

let server: TestServer;
let app: Hono<Env>;
beforeAll(async () => {
  server = await testServer();
  const v1 = new Hono<Env>()
    .get("/who", (c) => c.json(c.get("caller")))
    .get("/admin", (c) => c.json(requireRole(c, "admin")));
  ({ app } = server.app({ v1 }));
});
afterAll(() => server[Symbol.asyncDispose]());

const who = async (headers: Record<string, string>): Promise<Response> => app.request("/v1/who", { headers });

test("a key is taken from either header, and says whose project and which role", async () => {
  const { secret, id } = await server.key("viewer", "/somewhere");
  expect(secret).toMatch(/^ck_[\w-]{43}$/);
  const ways: Record<string, string>[] = [
    { "x-api-key": secret },
    { authorization: `Bearer ${secret}` },
    { authorization: `bearer ${secret}` },
  ];
  for (const headers of ways)
    expect(await (await who(headers)).json()).toEqual({ project: "/somewhere", role: "viewer", id, name: "a viewer" });
});

test.for([
  [{}, "The request has no key"],
  [{ "x-api-key": "ck_short" }, "This is not a Capstan key"],
  [{ "x-api-key": "sk-ant-api03-xyz" }, "key for the model API"],
  [{ "x-api-key": `ck_${"x".repeat(43)}` }, "does not know the key"],
  [{ authorization: "Basic eDp5" }, "must be: Bearer"],
  [{ cookie: "capstan=1; other=2" }, "The request has no key"],
] as const)("whoever is not known is told what to do: %j", async ([headers, said]) => {
  const answer = await who(headers);
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toContain("Bearer");
  const { error } = await envelope(answer);
  expect(error.type).toBe("authentication_error");
  expect(error.message).toContain(said);
});

test("a wrong key is not made up for by a right one beside it", async () => {
  const { secret } = await server.key();
  const answer = await who({ "x-api-key": `ck_${"x".repeat(43)}`, authorization: `Bearer ${secret}` });
  expect(answer.status).toBe(401);
});

test("a revoked key is refused at once", async () => {
  const { secret, id } = await server.key();
  expect((await who({ "x-api-key": secret })).status).toBe(200);
  await server.store.registry.keys.revoke(id, Date.now());
  const answer = await who({ "x-api-key": secret });
  expect(answer.status).toBe(401);
  expect((await envelope(answer)).error.message).toMatch(/was revoked.*capstan keys create/);
});

test("a role that is too low is refused with the one that is needed", async () => {
  const { secret } = await server.key("operator");
  const answer = await app.request("/v1/admin", { headers: { "x-api-key": secret } });
  expect(answer.status).toBe(403);
  const { error } = await envelope(answer);
  expect(error.type).toBe("permission_error");
  expect(error.message).toContain("capstan keys create --role admin");
});

test("the use of a key is noted, at most once a minute", async () => {
  const { secret, id } = await server.key();
  const noted = async (): Promise<number | null | undefined> =>
    (await server.store.registry.keys.list()).find((key) => key.id === id)?.lastUsedAt;
  expect(await noted()).toBeNull();
  await who({ "x-api-key": secret });
  const first = await noted();
  expect(first).toBe(server.deps.clock.now());
  server.pass(59_000);
  await who({ "x-api-key": secret });
  expect(await noted()).toBe(first);
  server.pass(1_000);
  await who({ "x-api-key": secret });
  expect(await noted()).toBe(server.deps.clock.now());
});

test("the secret is nowhere in the store", async () => {
  const { secret, id } = await server.key();
  // Used, so that whatever is noted of that is there too.
  expect((await who({ "x-api-key": secret })).status).toBe(200);
  const files = ["capstan.db", "capstan.db-wal"]
    .map((name) => join(server.home, name))
    .filter((path) => existsSync(path));
  const bytes = Buffer.concat(files.map((path) => readFileSync(path)));
  expect([bytes.includes(id), bytes.includes(secret.slice(9))]).toEqual([true, false]);
});
