import { expect, test } from "vitest";
import { LoginCookie } from "../../src/server/http/cookie.ts";
import { listen } from "../../src/server/listen.ts";
import { LoginTokens } from "../../src/server/http/login.ts";
import { openBrowser } from "../support/browser.ts";
import { testServer } from "../server/base-support.ts";

test("a person logs in with a key through the form, and out again", async () => {
  await using server = await testServer();
  const cookie = new LoginCookie({ secret: new Uint8Array(32), isSecure: false, ended: new Set() });
  const { app } = server.app({ login: { cookie, tokens: new LoginTokens(server.deps.clock) } });
  const listening = await listen(app, { host: "127.0.0.1", port: 0 });
  await using _closing = { [Symbol.asyncDispose]: () => listening.close() };
  const url = `http://127.0.0.1:${listening.port}`;
  const { secret } = await server.key("viewer");
  await using browser = await openBrowser();
  const page = await browser.newPage();
  const metrics = async (): Promise<number> => (await page.request.get(`${url}/metrics`)).status();

  await page.goto(`${url}/login`);
  await page.getByLabel("Key").fill("ck_wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Not logged in" }).waitFor();
  expect(await metrics()).toBe(401);

  await page.getByLabel("Key").fill(secret);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(`${url}/`);
  expect(await metrics()).toBe(200);

  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL(`${url}/login`);
  expect(await metrics()).toBe(401);
});
