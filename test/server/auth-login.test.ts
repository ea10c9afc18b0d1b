import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Hono } from "hono";
import { afterAll, beforeAll, expect, test } from "vitest";
import { endedLogins } from "../../src/app/serve/ended-logins.ts";
import { serverSecret } from "../../src/app/serve/server-secret.ts";
import { LoginCookie } from "../../src/server/http/cookie.ts";
import type { Caller, Env } from "../../src/server/http/context.ts";
import { LoginTokens } from "../../src/server/http/login.ts";
import { temporaryDirectory } from "../support/host.ts";
import { envelope, type TestServer, testServer } from "./base-support.ts";

const PERSON: Caller = { project: "default", role: "admin", id: "browser", name: "ada" };

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const secretOf = (text: string): Uint8Array => new TextEncoder().encode(text.repeat(32));

function withLogin(cookie = new LoginCookie({ secret: secretOf("s"), isSecure: false, ended: new Set() })): {
  readonly app: Hono<Env>;
  readonly tokens: LoginTokens;
} {
  const tokens = new LoginTokens(server.deps.clock);
  const v1 = new Hono<Env>().get("/who", (c) => c.json(c.get("caller")));
  return { app: server.app({ v1, login: { tokens, cookie } }).app, tokens };
}

/** What a browser would send back. */
const cookieOf = (answer: Response): string => (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";

test("the printed address logs a browser in, once", async () => {
  const { app, tokens } = withLogin();
  const token = tokens.issue(PERSON);
  const first = await app.request(`/login?token=${token}`);
  expect(first.status).toBe(302);
  expect(first.headers.get("location")).toBe("/");
  expect(first.headers.get("set-cookie")).toMatch(
    /^capstan_[0-9a-f]{8}=[\w-]+\.[\w-]+; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
  );
  expect(await (await app.request("/v1/who", { headers: { cookie: cookieOf(first) } })).json()).toEqual(PERSON);

  const second = await app.request(`/login?token=${token}`);
  expect(second.status).toBe(401);
  expect(second.headers.get("set-cookie")).toBeNull();
  expect(await second.text()).toContain("was used before, or is older than ten minutes");
});

test("a token that is too old, unknown, or only looked at logs nobody in", async () => {
  const { app, tokens } = withLogin();
  const looked = tokens.issue(PERSON);
  await app.request(`/login?token=${looked}`, { method: "HEAD" });
  expect((await app.request(`/login?token=${looked}`)).status).toBe(302);
  const old = tokens.issue(PERSON);
  server.pass(600_000);
  for (const token of [old, "unknown", "", "<script>"]) {
    const answer = await app.request(`/login?token=${encodeURIComponent(token)}`);
    expect(answer.status).toBe(401);
    expect(await answer.text()).not.toContain("<script");
  }
});

test("behind TLS the cookie is for TLS alone", async () => {
  const { app, tokens } = withLogin(new LoginCookie({ secret: secretOf("s"), isSecure: true, ended: new Set() }));
  const answer = await app.request(`/login?token=${tokens.issue(PERSON)}`);
  expect(answer.headers.get("set-cookie")).toMatch(/^__Host-capstan_\w+=.*; Path=\/;.*; SameSite=Strict; Secure$/);
});

test("a login holds beyond a restart with the same secret, and for seven days", async () => {
  const { app, tokens } = withLogin();
  const cookie = cookieOf(await app.request(`/login?token=${tokens.issue(PERSON)}`));
  const { app: restarted } = withLogin();
  const status = async (): Promise<number> => (await restarted.request("/v1/who", { headers: { cookie } })).status;
  server.pass(7 * 86_400_000 - 1);
  expect(await status()).toBe(200);
  server.pass(1);
  expect(await status()).toBe(401);
});

test("a forged login is refused, whatever was forged", async () => {
  const { app, tokens } = withLogin();
  const viewer = { ...PERSON, role: "viewer" as const };
  const [name = "", value = ""] = cookieOf(await app.request(`/login?token=${tokens.issue(viewer)}`)).split("=");
  const [payload = "", signature = ""] = value.split(".");
  const raised = Buffer.from(Buffer.from(payload, "base64url").toString().replace('"viewer"', '"admin"')).toString(
    "base64url",
  );
  const other = new LoginCookie({ secret: secretOf("t"), isSecure: false, ended: new Set() });
  const foreign = other.issue(PERSON, server.deps.clock.now()).split(";")[0]?.split("=")[1];
  for (const forged of [`${raised}.${signature}`, `${payload}.${signature}x`, payload, `${payload}.`, ".", foreign]) {
    const answer = await app.request("/v1/who", { headers: { cookie: `${name}=${forged}` } });
    expect(answer.status, forged).toBe(401);
    expect((await envelope(answer)).error.message).toContain("is no longer valid");
  }
  expect((await app.request("/v1/who", { headers: { cookie: `a=b; ${name}=${value}` } })).status).toBe(200);
});

test("two servers on one machine do not overwrite each other's logins", () => {
  const [one, two] = ["s", "t"].map((text) =>
    new LoginCookie({ secret: secretOf(text), isSecure: false, ended: new Set() }).issue(PERSON, 0),
  );
  expect(one?.split("=")[0]).not.toBe(two?.split("=")[0]);
});

test("a person can log in with a key, and out again; the login ends with the key", async () => {
  const { app } = withLogin();
  const { secret, id } = await server.key("operator", "/team");
  expect(await (await app.request("/login")).text()).toContain('<form method="post" action="/login">');
  const login = async (key: string): Promise<Response> =>
    app.request("/login", {
      method: "POST",
      body: new URLSearchParams({ key }),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  const refused = await login("ck_wrong");
  expect(refused.status).toBe(401);
  expect(await refused.text()).toContain("This is not a Capstan key");
  const answer = await login(` ${secret} `);
  expect(answer.status).toBe(303);
  const cookie = cookieOf(answer);
  const caller = await app.request("/v1/who", { headers: { cookie } });
  expect(await caller.json()).toMatchObject({ project: "/team", role: "operator", id });

  const out = await app.request("/logout", { method: "POST", headers: { cookie } });
  expect(out.headers.get("set-cookie")).toMatch(/^capstan_\w+=; .*Max-Age=0/);
  expect((await app.request("/v1/who", { headers: { cookie } })).status).toBe(401);

  const second = cookieOf(await login(secret));
  expect((await app.request("/v1/who", { headers: { cookie: second } })).status).toBe(200);
  await server.store.registry.keys.revoke(id, Date.now());
  expect((await app.request("/v1/who", { headers: { cookie: second } })).status).toBe(401);
});

const statusOf = async (app: Hono<Env>, cookie: string): Promise<number> =>
  (await app.request("/v1/who", { headers: { cookie } })).status;

test("a cookie that was copied ends with the logout, on every server of this home and after a restart", async () => {
  using home = temporaryDirectory();
  const appWith = (): Hono<Env> => {
    const ended = endedLogins(home.path, server.deps.clock.now());
    return withLogin(new LoginCookie({ secret: secretOf("s"), isSecure: false, ended })).app;
  };
  const [one, other] = [appWith(), appWith()];
  const { secret } = await server.key("viewer");
  const login = async (): Promise<string> =>
    cookieOf(
      await one.request("/login", {
        method: "POST",
        body: new URLSearchParams({ key: secret }),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
    );
  const [copied, kept] = [await login(), await login()];
  await one.request("/logout", { method: "POST", headers: { cookie: copied } });
  for (const app of [one, other, appWith()])
    expect([await statusOf(app, copied), await statusOf(app, kept)]).toEqual([401, 200]);
  // A logout without a login, or with a forged one, ends nothing.
  for (const cookie of ["", kept.replace(/.$/, "")])
    await one.request("/logout", { method: "POST", headers: { cookie } });
  expect(await statusOf(one, kept)).toBe(200);
  // What is too old by itself is not kept.
  expect(readdirSync(join(home.path, "ended-logins"))).toHaveLength(1);
  endedLogins(home.path, server.deps.clock.now() + 8 * 86_400_000);
  expect(readdirSync(join(home.path, "ended-logins"))).toEqual([]);
});

test("a login leads back to where somebody was, and never to another server", async () => {
  const { app } = withLogin();
  const { secret } = await server.key("viewer");
  const login = (key: string, next: string): Promise<Response> | Response =>
    app.request("/login", {
      method: "POST",
      body: new URLSearchParams({ key, next }),
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
  for (const place of ["/", "/sessions/sesn_1?thread=t#x", "/agents/%D9%85?q=a%2Fb"])
    expect((await login(secret, place)).headers.get("location")).toBe(place);
  for (const hostile of [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/ok\r\nset-cookie: a=b",
    "/a\\..\\evil.example",
    "https://evil.example",
    "evil.example",
    "javascript:alert(1)",
    " /",
    "",
    "/\u202Eevil",
    `/${"a".repeat(3_000)}`,
  ]) {
    const answer = await login(secret, hostile);
    expect([answer.status, answer.headers.get("location")], hostile.slice(0, 40)).toEqual([303, "/"]);
  }
  // A wrong key keeps the place, and what it holds stays text.
  const page = await (await login("ck_wrong", `/sessions/a?q="><script>`)).text();
  expect(page).toContain('name="next" type="hidden" value="/sessions/a?q=&quot;&gt;&lt;script&gt;"');
});

test("another site cannot log a browser in or out", async () => {
  const { app } = withLogin();
  for (const path of ["/login", "/logout"]) {
    const answer = await app.request(path, { method: "POST", headers: { origin: "https://evil.example" } });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("set-cookie")).toBeNull();
  }
});

test("the server's secret is private, stays the same, and is replaced when it is removed", () => {
  using directory = temporaryDirectory();
  const home = join(directory.path, "home");
  const path = join(home, "server-secret");
  const secret = serverSecret(home);
  expect(secret).toHaveLength(32);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(serverSecret(home)).toEqual(secret);
  rmSync(path);
  expect(serverSecret(home)).not.toEqual(secret);

  const text = readFileSync(path, "utf8");
  writeFileSync(path, "short");
  expect(() => serverSecret(home)).toThrow(
    /server-secret, cannot be used: its content is not a secret of the expected length. Remove the file/,
  );
  writeFileSync(path, text);
  expect(serverSecret(home)).toHaveLength(32);
});
