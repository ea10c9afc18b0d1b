import { expect, test } from "vitest";
import { isTooWide, seriousBarriers } from "../support/barriers.ts";
import { openConsole } from "../support/console.ts";

/** Nobody ever has this name, so that deliveries to it fail. */
const HOOK = "https://hooks.invalid/capstan";

test("keys and webhooks are made, used and taken away; what the role may not do is not offered", async () => {
  await using console = await openConsole();
  const { page, client, url } = console;
  await console.context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(`${url}/settings`);
  await page.getByText(console.directory).waitFor();
  expect(await page.getByRole("link", { name: /API reference/ }).getAttribute("href")).toBe("/docs");
  // What the server has is told; the secret itself is nowhere.
  await page.getByText("Anthropic API").first().waitFor();
  expect(await page.content()).not.toContain("sk-ant-test");

  // A key is shown once, and works.
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByLabel("Name").fill("ci مفتاح");
  await page.getByLabel("Role").selectOption("viewer");
  await page.getByRole("button", { name: "Create key" }).click();
  const shown = page.getByRole("dialog", { name: "Key ci مفتاح" });
  const secret = (await shown.locator("code").innerText()).trim();
  expect((await fetch(`${url}/api/whoami`, { headers: { "x-api-key": secret } })).status).toBe(200);
  expect(await seriousBarriers(page)).toEqual([]);
  await shown.getByRole("button", { name: "Copy secret" }).click();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe(secret);
  await shown.getByRole("button", { name: "I have copied it" }).click();
  await page.getByRole("button", { name: "Revoke ci مفتاح" }).waitFor();
  expect(await page.content()).not.toContain(secret);
  await page.getByRole("button", { name: "Revoke ci مفتاح" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();
  await page.getByText("Revoked the key").waitFor();
  expect((await fetch(`${url}/api/whoami`, { headers: { "x-api-key": secret } })).status).toBe(401);
  await page.getByLabel("Show revoked keys (1)").check();
  await page.getByRole("region", { name: "Keys" }).getByText("revoked just now").waitFor();

  // A webhook whose address fails says so.
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByLabel("URL").fill("http://127.0.0.1/hook");
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByRole("dialog").getByRole("alert").waitFor();
  expect(await seriousBarriers(page)).toEqual([]);
  await page.getByLabel("URL").fill(HOOK);
  await page.getByLabel("a session was created").check();
  await page.getByRole("button", { name: "Add webhook" }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "I have copied it" }).click();
  expect(await client.webhooks.list()).toMatchObject([{ events: ["session.requires_action", "session.created"] }]);
  await client.sessions.create({});
  await page.getByRole("button", { name: `Deliveries to ${HOOK}` }).click();
  const log = page.getByRole("region", { name: "Deliveries" });
  await log.getByText("session.created").waitFor();
  await expect
    .poll(() => log.getByRole("row").last().innerText())
    .toMatch(/waiting[\s\S]*hooks\.invalid[\s\S]*next try/);
  expect(await seriousBarriers(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await isTooWide(page)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("button", { name: `Switch off ${HOOK}` }).click();
  await page.getByRole("button", { name: `Switch on ${HOOK}` }).waitFor();
  await page.getByRole("button", { name: `Remove ${HOOK}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("No webhooks yet.").waitFor();

  // The theme is kept, and holds before the page is there.
  const theme = (): Promise<string> => page.evaluate("document.documentElement.dataset.theme ?? 'system'");
  await page.getByLabel("Dark").check();
  expect(await theme()).toBe("dark");
  await page.reload();
  await page.getByRole("heading", { name: "Webhooks" }).waitFor();
  expect([await theme(), await page.getByLabel("Dark").isChecked()]).toEqual(["dark", true]);
  expect(await seriousBarriers(page)).toEqual([]);
  await page.getByLabel("System").check();
  expect([await theme(), await page.evaluate("localStorage.getItem('capstan.theme')")]).toEqual(["system", null]);

  for (const [role, told] of [
    ["viewer", "Only operators and admins can see the server's model credentials"],
    ["operator", "Only admins can see and create them"],
  ] as const) {
    const visitor = await console.visitor(role);
    await visitor.goto(`${url}/settings`);
    await visitor.getByText(told).first().waitFor();
    expect(await visitor.getByRole("button", { name: /New key|New webhook|Revoke/ }).count()).toBe(0);
    if (role === "operator") continue;
    await visitor.getByRole("button", { name: "Log out" }).click();
    await visitor.waitForURL(`${url}/login`);
  }
  const careless = await console.visitor("admin");
  await careless.goto(`${url}/settings`);
  await careless.getByRole("button", { name: "Revoke a admin" }).click();
  await careless.getByText("You are logged in with this key.").waitFor();
  await careless.getByRole("button", { name: "Revoke key" }).click();
  await careless.getByText("You are logged out").waitFor();

  await page.setViewportSize({ width: 360, height: 740 });
  expect(await isTooWide(page)).toBe(false);
  expect(console.complaints).toEqual([]);
});
