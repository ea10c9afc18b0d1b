import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConsoleFiles } from "../../src/server/console.ts";
import { type TestServer, testServer } from "./base-support.ts";

const PAGE = "<!doctype html><title>The console</title>";
const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

let server: TestServer;
let app: ReturnType<TestServer["app"]>["app"];
beforeAll(async () => {
  server = await testServer();
  const directory = join(server.home, "console");
  mkdirSync(join(directory, "assets"), { recursive: true });
  writeFileSync(join(directory, "index.html"), PAGE);
  writeFileSync(join(directory, "assets", "app-x1.js"), "run()");
  ({ app } = server.app({ console: new ConsoleFiles(directory) }));
});
afterAll(() => server[Symbol.asyncDispose]());

const asked = async (path: string, headers: Record<string, string> = BROWSER) => {
  const answer = await app.request(path, { headers });
  return { status: answer.status, text: await answer.text(), headers: answer.headers };
};

test("serves every page of the console at its address", async () => {
  const source = readFileSync(join(import.meta.dirname, "../../web/src/app.tsx"), "utf8");
  const pages = [...source.matchAll(/<Route path="([^"]+)"/g)].map(([, path = ""]) => path.replace(":id", "some-id"));
  expect(pages.length).toBeGreaterThan(10);
  for (const page of pages) {
    const { status, text, headers } = await asked(page, {});
    expect([page, status, text]).toEqual([page, 200, PAGE]);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
  }
});

test("a new build does not affect a running server", async () => {
  const directory = join(server.home, "console");
  rmSync(join(directory, "assets"), { recursive: true });
  writeFileSync(join(directory, "index.html"), "another");
  expect(await asked("/")).toMatchObject({ status: 200, text: PAGE });
  expect(await asked("/assets/app-x1.js")).toMatchObject({ status: 200, text: "run()" });
});

test("an unknown path shows the console's 404 page to browsers and the API's error to programs", async () => {
  for (const path of ["/sessions", "/sessions/", "/sessions/a/b", "/nowhere", "/settings/x", "/apiary"]) {
    const { status, text, headers } = await asked(path);
    expect([path, status, text]).toEqual([path, 404, PAGE]);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect((await asked(path, {})).status).toBe(401);
  }
  const { secret } = await server.key("viewer");
  const known = await asked("/nowhere", { "x-api-key": secret, accept: "application/json" });
  expect([known.status, JSON.parse(known.text)]).toMatchObject([404, { error: { type: "not_found_error" } }]);
});

test("paths for programs never return the console, whatever the accept header", async () => {
  for (const path of ["/api/nowhere", "/v1/nowhere", "/v1", "/metrics", "/openapi.json/x"])
    expect([path, (await asked(path)).status, (await asked(path)).headers.get("content-type")]).toEqual([
      path,
      401,
      "application/json",
    ]);
  const gone = await asked("/assets/gone-x1.js");
  expect([gone.status, JSON.parse(gone.text)]).toMatchObject([404, { error: { type: "not_found_error" } }]);
  const posted = await app.request("/nowhere", { method: "POST", headers: BROWSER });
  expect(posted.headers.get("content-type")).toBe("application/json");
  expect((await asked("/assets/app-x1.js")).text).toBe("run()");
});
