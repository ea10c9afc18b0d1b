import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isTooWide, seriousBarriers } from "../support/barriers.ts";
import { type Console, openConsole } from "../support/console.ts";
import { obedient, order, type Step } from "../support/obedient-model.ts";

/** What a session asks, where it is answered while one reads and writes in it. */

let console: Console;
let page: Page;
let dock: Locator;
beforeAll(async () => {
  console = await openConsole({ script: obedient });
  ({ page } = console);
  for (const name of ["one.txt", "two.txt", "three.txt"]) writeFileSync(join(console.directory, name), "text\n");
  dock = page.getByRole("region", { name: "Needs approval" });
});
afterAll(() => console[Symbol.asyncDispose]());

async function open(...steps: readonly Step[]): Promise<void> {
  const agent_definition = {
    name: "helper",
    model: "claude-opus-4-8",
    tools: ["Read", "Write"],
    permissions: { ask: ["Read"] },
  };
  const { id } = await console.client.sessions.create({ agent_definition, message: order(...steps) });
  await page.goto(`${console.url}/sessions/${id}`);
}

const read = (name: string): readonly [string, Record<string, unknown>] => [
  "Read",
  { file_path: join(console.directory, name) },
];
const waiting = async (): Promise<number> => (await console.client.approvals.list({ status: "pending" })).length;
const card = (name: string, on = page): Locator => on.locator("[data-approval]", { hasText: name });
const hasFocus = (element: Locator): Promise<boolean> =>
  element.evaluate((one) => one === one.ownerDocument.activeElement);

/** The next answer is held up on its way, until it is let go. */
async function holdAnswer(): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const send = async (route: Route): Promise<void> => {
    await promise;
    await route.continue();
  };
  await page.route("**/api/approvals/*/answer", send, { times: 1 });
  return resolve;
}

/** The next answer arrives, but nobody is told so. */
const loseReceipt = (): Promise<unknown> => page.route("**/api/approvals/*/answer", sendUnheard, { times: 1 });

async function sendUnheard(route: Route): Promise<void> {
  await route.fetch();
  await route.abort();
}

test("keys answer only where the focus is, and what is half written stays", async () => {
  await open({ together: [read("one.txt"), read("two.txt"), read("three.txt")] });
  await dock.getByText("1 of 3").waitFor();
  const first = card("one.txt");
  await first.waitFor();
  expect(await seriousBarriers(page)).toEqual([]);

  // A message that was begun without the focus in its field, also one that begins with the key that leads to the card.
  await page.getByRole("log").focus();
  for (const key of "adewa") await page.keyboard.press(key);
  await expect.poll(() => hasFocus(first)).toBe(true);
  // A menu has its own letters: this one is for the mode, and for a new session elsewhere.
  await page.getByRole("button", { name: /^Mode:/ }).click();
  await page.getByRole("menu").waitFor();
  for (const key of "na") await page.keyboard.press(key);
  await page.keyboard.press("Escape");
  await page.getByRole("menu").waitFor({ state: "detached" });
  expect(page.url()).toContain("/sessions/");
  expect(await waiting()).toBe(3);

  await page.getByRole("log").focus();
  await page.keyboard.press("w");
  const reason = first.getByLabel("Why not?");
  await expect
    .poll(async () => {
      await page.keyboard.press("d");
      return reason.isVisible();
    })
    .toBe(true);
  await reason.fill("Not that one.");
  await dock.getByRole("button", { name: "Next approval" }).click();
  await dock.getByText("2 of 3").waitFor();
  expect(await first.isVisible()).toBe(false);
  await dock.getByRole("button", { name: "Previous approval" }).click();
  expect(await reason.inputValue()).toBe("Not that one.");
  await reason.press("Control+Enter");

  // The next one is there, and has the focus.
  await dock.getByText("1 of 2").waitFor();
  const second = card("two.txt");
  await expect.poll(() => hasFocus(second)).toBe(true);
  expect(console.complaints).toEqual([]);
});

test("what somebody else answered stays until it is dismissed, and the focus goes back in the end", async () => {
  const other = await console.visitor("operator");
  await other.goto(`${console.url}/approvals`);
  await card("two.txt", other).getByRole("button", { name: "Allow once" }).click();
  const second = card("two.txt");
  await second.getByText("a operator").waitFor();
  await dock.getByText("1 of 2").waitFor();
  await dock.getByRole("button", { name: "Dismiss" }).click();
  await second.waitFor({ state: "detached" });
  const third = card("three.txt");
  await expect.poll(() => hasFocus(third)).toBe(true);

  await page.setViewportSize({ width: 360, height: 740 });
  expect(await isTooWide(page)).toBe(false);
  expect(await seriousBarriers(page)).toEqual([]);
  const message = page.getByLabel("Message to the agent");
  await message.fill("And then");
  await third.getByRole("button", { name: "Allow once" }).click();
  await dock.waitFor({ state: "detached" });
  await expect.poll(waiting).toBe(0);
  expect(await hasFocus(message)).toBe(true);
  expect(await message.inputValue()).toBe("And then");
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(console.complaints).toEqual([]);
});

test("nothing of a change hides, and single keys can be switched off", async () => {
  const content = Array.from({ length: 250 }, (_, index) => `${index} ${"wide ".repeat(80)}\r\n`).join("");
  await open(["Write", { file_path: join(console.directory, "long.txt"), content }]);
  const write = card("long.txt");
  await write.getByText("Windows line endings").waitFor();
  expect(await write.getByText("\\u{d}").count()).toBe(0);
  const change = write.getByRole("region", { name: /Changes in/ });
  expect(await change.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  expect(await write.getByText("50 more lines not shown").count()).toBe(2);
  expect(await change.getByText("249 wide").count()).toBe(0);
  await write.getByRole("button", { name: "Show all", exact: true }).click();
  await change.getByText("249 wide").waitFor();
  expect(await write.getByText("not shown").count()).toBe(0);

  await page.getByRole("log").focus();
  await page.keyboard.press("?");
  const box = page.getByRole("checkbox", { name: "Single-key shortcuts" });
  expect(await seriousBarriers(page)).toEqual([]);
  await box.uncheck();
  await page.getByRole("button", { name: "Close" }).click();
  await page.reload();
  await write.waitFor();
  for (const key of ["w", "n", "?"]) await page.keyboard.press(key);
  expect(await hasFocus(write)).toBe(false);
  expect(page.url()).toContain("/sessions/");
  await page.getByRole("button", { name: "Shortcuts" }).click();
  await box.check();
  await page.getByRole("button", { name: "Close" }).click();
  await page.keyboard.press("w");
  await expect.poll(() => hasFocus(write)).toBe(true);
  expect(await waiting()).toBe(1);
  await write.getByRole("button", { name: "Allow once" }).click();
  await dock.waitFor({ state: "detached" });
  expect(console.complaints).toEqual([]);
});

test("an answer whose receipt was lost was taken all the same", async () => {
  await open(read("one.txt"));
  const lost = card("one.txt");
  const deny = lost.getByRole("button", { name: "Deny", exact: true });
  await lost.getByRole("button", { name: "Deny…" }).click();
  // The news are held up, so that the page does not learn it from them.
  await page.route("**/api/approvals?*", () => {});
  await loseReceipt();
  await deny.click();
  await lost.getByText("Unclear whether your answer was saved").waitFor();
  await deny.click();
  await lost.getByText("Your answer was saved.").waitFor();
  await lost.getByText("(you)").waitFor();
  await page.unroute("**/api/approvals?*");

  // Where the news tell it, nothing says any more that it went wrong.
  await open(read("two.txt"));
  await loseReceipt();
  const told = card("two.txt");
  await told.getByRole("button", { name: "Allow once" }).click();
  await told.getByText("(you)").waitFor();
  expect(await told.getByRole("alert").count()).toBe(0);
  expect(console.complaints).toEqual([]);
});

test.for(["in the session", "among all that waits"])("an answer that is late moves nobody, %s", async (where) => {
  await open({ together: [read("one.txt"), read("two.txt")] });
  await dock.getByText("1 of 2").waitFor();
  const isDock = where === "in the session";
  if (!isDock) await page.goto(`${console.url}/approvals`);
  const [first, second] = [card("one.txt"), card("two.txt")];
  const letGo = await holdAnswer();
  await first.getByRole("button", { name: "Allow once" }).click();
  if (isDock) await dock.getByRole("button", { name: "Next approval" }).click();
  await second.getByRole("button", { name: "Deny…" }).click();
  const reason = second.getByLabel("Why not?");
  await reason.fill("It is ");
  letGo();
  if (isDock) await first.waitFor({ state: "detached" });
  else await first.getByText("(you)").waitFor();
  await page.keyboard.type("a dead end");
  expect(await reason.inputValue()).toBe("It is a dead end");
  await reason.press("Control+Enter");
  await expect.poll(waiting).toBe(0);
  expect(console.complaints).toEqual([]);
});

test("what is half written is found again, and a key that is not meant for it ends nothing", async () => {
  await open(["Write", { file_path: join(console.directory, "draft.txt"), content: "text\n" }]);
  const write = card("draft.txt");
  const reason = write.getByLabel("Why not?");
  const input = write.getByLabel("Input to use instead");
  await write.getByRole("button", { name: "Edit…" }).click();
  const asAsked = await input.inputValue();
  await input.fill('{ "half": ');
  await input.press("Escape");
  await write.getByRole("button", { name: "Deny…" }).click();
  await reason.fill("Because");
  for (const key of ["Escape", "Enter"])
    for (const more of [{ isComposing: true }, { repeat: true }])
      await reason.dispatchEvent("keydown", { key, ctrlKey: true, ...more });
  expect(await reason.inputValue()).toBe("Because");
  expect(await write.getByRole("button", { name: "Deny", exact: true }).isEnabled()).toBe(true);
  await page.getByRole("link", { name: /^Approvals/ }).click();
  await page.getByRole("heading", { name: "Approvals" }).waitFor();
  expect(await reason.inputValue()).toBe("Because");
  await page.goBack();
  await dock.waitFor();
  expect(await reason.inputValue()).toBe("Because");
  // A login that has ended, and is there again by another tab.
  await page.route("**/api/**", (route) => route.fulfill({ status: 401, json: {} }));
  await page.getByRole("heading", { name: "You are logged out" }).waitFor();
  await page.unroute("**/api/**");
  await expect
    .poll(async () => {
      await page.evaluate("dispatchEvent(new Event('visibilitychange'))");
      return reason.isVisible();
    })
    .toBe(true);
  expect(await reason.inputValue()).toBe("Because");
  // Nobody has opened it this time.
  expect(await hasFocus(reason)).toBe(false);
  await write.getByRole("button", { name: "Back" }).click();
  await write.getByRole("button", { name: "Edit…" }).click();
  expect(await input.inputValue()).toBe('{ "half": ');
  await write.getByRole("button", { name: "Undo edits" }).click();
  expect(await input.inputValue()).toBe(asAsked);
  expect(await waiting()).toBe(1);
  await write.getByRole("button", { name: "Allow as edited" }).click();
  await expect.poll(waiting).toBe(0);
  expect(console.complaints).toEqual([]);
});

test("a key answers nothing that is out of sight, nor while it is held down", async () => {
  await page.setViewportSize({ width: 1280, height: 480 });
  const content = "and so on\n".repeat(60);
  await open(["Write", { file_path: join(console.directory, "far.txt"), content }]);
  const far = card("far.txt");
  await far.waitFor();
  await page.goto(`${console.url}/approvals`);
  const allow = far.getByRole("button", { name: "Allow once" });
  const reason = far.getByLabel("Why not?");
  await allow.waitFor();
  expect((await allow.boundingBox())?.y).toBeGreaterThan(480);
  await expect
    .poll(async () => {
      await page.keyboard.press("d");
      return hasFocus(far);
    })
    .toBe(true);
  expect((await allow.boundingBox())?.y).toBeLessThan(480);
  expect(await reason.count()).toBe(0);
  await page.evaluate("document.querySelector('main').scrollTo(0, 0)");
  for (let times = 0; times < 20; times++) await page.keyboard.down("a");
  await page.keyboard.up("a");
  // What it shows is seen now.
  await expect
    .poll(async () => {
      await page.keyboard.press("d");
      return reason.isVisible();
    })
    .toBe(true);
  expect(await waiting()).toBe(1);
  await far.getByRole("button", { name: "Deny", exact: true }).click();
  await far.getByText("Denied").waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(console.complaints).toEqual([]);
});
