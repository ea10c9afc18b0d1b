import { expect, onTestFinished, test } from "vitest";
import { openConsole } from "../support/console.ts";

test("what the first page asks for is on its way before its script is, and is asked for once", async () => {
  await using console = await openConsole();
  const { url } = console;
  // A browser of its own pace: that of the other tests polls ten times as often.
  const browser = console.context.browser();
  const context = await browser?.newContext({ storageState: await console.context.storageState() });
  onTestFinished(() => context?.close());
  const page = (await context?.newPage()) ?? console.page;
  const asked: string[] = [];
  page.on("request", (request) => {
    const path = request.url().slice(url.length);
    if (path.startsWith("/api/")) asked.push(path);
  });
  const first = ["/api/whoami", "/api/sessions?limit=50&include_archived=false"];
  await page.route("**/assets/*.js", async (route) => {
    await expect.poll(() => asked).toEqual(first);
    await route.continue();
  });
  await page.goto(url);
  await page.getByText("No sessions yet").waitFor();
  for (const path of first) expect(asked.filter((one) => one === path)).toHaveLength(1);
});

test("whoever is logged in finds the console, and its policy is kept to", async () => {
  await using console = await openConsole();
  const { page } = console;
  await page.getByRole("link", { name: "Costs" }).click();
  await page.waitForURL(`${console.url}/costs`);
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.waitForURL(`${console.url}/`);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  expect(console.complaints).toEqual([]);
});
