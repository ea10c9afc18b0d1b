import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Console, openConsole } from "../support/console.ts";
import { say } from "../support/scripted-model.ts";

/** What is written is never lost, whatever becomes of it on its way. */

let console: Console;
let page: Page;
beforeAll(async () => {
  // Whoever is told to work does so until somebody interrupts it.
  console = await openConsole({ script: ({ last }) => (last.endsWith("work") ? new Promise(() => {}) : say("Done.")) });
  ({ page } = console);
});
afterAll(() => console[Symbol.asyncDispose]());

async function startSession(message: string): Promise<string> {
  const { id } = await console.client.sessions.create({ message });
  await page.goto(`${console.url}/sessions/${id}`);
  return id;
}
const field = () => page.getByLabel("Message to the agent");

test("a message without an answer is there again, with what was written since, and with a warning", async () => {
  const id = await startSession("hello");
  await page.getByRole("log").getByText("Done.").waitFor();
  const held = Promise.withResolvers<Route>();
  await page.route("**/messages", (route) => held.resolve(route));
  await field().fill("the first");
  await page.keyboard.press("Enter");
  const route = await held.promise;
  await expect.poll(() => field().inputValue()).toBe("");
  await field().fill("the second");
  await route.abort("connectionreset");
  await page.getByText("The message may have arrived").waitFor();
  expect(await field().inputValue()).toBe("the first\nthe second");
  await page.unroute("**/messages");
  await page.reload();
  await expect.poll(() => field().inputValue()).toBe("the first\nthe second");

  // What is written while a message is taken is the next one's draft.
  await page.route("**/messages", async (taken) => {
    await field().fill("the third");
    await taken.continue();
  });
  await page.getByRole("button", { name: "Send" }).click();
  await expect.poll(async () => (await console.client.sessions.page(id)).data.filter(isMessage)).toHaveLength(2);
  await page.unroute("**/messages");
  // Taken: the next one could be sent.
  await expect.poll(() => page.getByRole("button", { name: /^(Send|Queue)$/ }).isEnabled()).toBe(true);
  await page.reload();
  await expect.poll(() => field().inputValue()).toBe("the third");
  await field().fill("");
});
const isMessage = ({ type }: { readonly type: string }): boolean => type === "user.message";

test("what is on its way while one looks at another page is in the field no more, or again", async () => {
  await startSession("hello");
  await page.getByRole("log").getByText("Done.").waitFor();
  const held = Promise.withResolvers<Route>();
  await page.route("**/messages", (route) => held.resolve(route));
  await field().fill("on its way");
  await page.keyboard.press("Enter");
  const route = await held.promise;
  await page.getByRole("link", { name: "Costs" }).click();
  await page.getByRole("heading", { name: "Costs" }).waitFor();
  await page.goBack();
  await expect.poll(() => field().inputValue()).toBe("");
  await field().fill("since");
  await route.fulfill({ status: 502, body: "<h1>Bad Gateway</h1>" });
  await expect.poll(() => field().inputValue()).toBe("on its way\nsince");
  await page.getByText("The message may have arrived").waitFor();
  await page.unroute("**/messages");
  await field().fill("");
});

test("what is half written is not sent with what a dialog asks", async () => {
  const id = await startSession("hello");
  await page.getByRole("log").getByText("Done.").waitFor();
  await field().fill("not yet");
  await page.getByRole("button", { name: /^Mode:/ }).click();
  await page.getByRole("menuitemradio", { name: /yolo/ }).click();
  await page.getByRole("button", { name: "Use yolo" }).click();
  await page.getByRole("button", { name: "Mode: yolo" }).waitFor();
  expect(await field().inputValue()).toBe("not yet");
  expect((await console.client.sessions.page(id)).data.filter(isMessage)).toHaveLength(1);
  await field().fill("");
});

test("files wait with their message while one looks at another page", async () => {
  await startSession("hello");
  await page.getByLabel("Files to attach").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: NOTES });
  await page.getByRole("list", { name: "Attachments" }).getByText("notes.txt").waitFor();
  await page.getByRole("link", { name: "Costs" }).click();
  await page.getByRole("heading", { name: "Costs" }).waitFor();
  await page.goBack();
  await page.getByRole("list", { name: "Attachments" }).getByText("notes.txt").waitFor();
  await page.getByRole("button", { name: "Remove notes.txt" }).click();
});
const NOTES = Buffer.from("Some notes.");

test("a long message is whole where it is said otherwise", async () => {
  await startSession("first");
  await page.getByRole("log").getByText("Done.").waitFor();
  const long = `${"a long story ".repeat(2_000)}with an end`;
  await field().fill(long);
  await page.keyboard.press("Enter");
  const said = page.getByRole("article", { name: "You said" }).filter({ hasText: "a long story" });
  await said.getByRole("button", { name: "Fork from before this message" }).click();
  await page.getByText("Forked. This is the new session.").waitFor();
  await expect.poll(() => field().inputValue()).toBe(long);
  await field().fill("");
});

test("an interrupt does not wait for a fork", async () => {
  const id = await startSession("hello");
  await page.getByRole("button", { name: "Fork from here" }).waitFor();
  await field().fill("work");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Interrupt" }).waitFor();
  await page.route("**/fork", () => {});
  await page.getByRole("button", { name: "Fork from here" }).click();
  await page.getByRole("button", { name: "Interrupt" }).click();
  await expect.poll(async () => (await console.client.sessions.get(id)).status).toBe("idle");
  await page.unroute("**/fork");
});

test("what could not be looked up is said to be old", async () => {
  const id = await startSession("hello");
  await page.getByRole("log").getByText("Done.").waitFor();
  const broken = { type: "error", error: { type: "api_error", message: "The disk is full." }, request_id: "req_1" };
  for (const address of [`**/api/sessions/${id}`, "**/api/approvals?**"]) {
    await page.route(address, (route) => route.fulfill({ status: 500, json: broken }));
    const bar = page.getByRole("status").filter({ hasText: "may be out of date. The disk is full." });
    await bar.waitFor();
    await page.unroute(address);
    await bar.waitFor({ state: "detached" });
  }
  expect(console.complaints).toEqual([]);
});

test.each([
  { width: 1280, height: 800 },
  { width: 360, height: 740 },
])("a notice leaves the message and its buttons in view, $width px wide", async (size) => {
  await page.setViewportSize(size);
  await startSession("work");
  await page.getByRole("button", { name: "Interrupt" }).waitFor();
  await field().press("Escape");
  const notice = await page.getByText("Press Escape again").locator("..").boundingBox();
  const form = await page.getByRole("form", { name: "Message" }).boundingBox();
  expect((notice?.y ?? 0) + (notice?.height ?? Infinity)).toBeLessThanOrEqual(form?.y ?? 0);
  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.getByText("Interrupted", { exact: true }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
});
