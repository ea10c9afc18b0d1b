import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { seriousBarriers } from "../support/barriers.ts";
import { type Console, openConsole } from "../support/console.ts";
import { obedient, order, type Step } from "../support/obedient-model.ts";
import { office } from "../support/office.ts";
import { WHICH_COLOUR } from "../support/scripted-model.ts";

let console: Console;
let page: Page;
beforeAll(async () => {
  console = await openConsole({ script: obedient });
  ({ page } = console);
  await page.goto(`${console.url}/approvals`);
});
afterAll(() => console[Symbol.asyncDispose]());

async function start(steps: readonly Step[], more: { mode?: "plan" } = {}): Promise<string> {
  const { servers } = office(console.directory);
  const agent_definition = {
    name: "helper",
    model: "claude-opus-4-8",
    tools: ["Bash", "Read", "Write", "AskUserQuestion"],
    custom_tools: [{ name: "lookup", description: "Looks up.", input_schema: { type: "object" as const } }],
    mcp_servers: servers,
    permissions: { allow: ["mcp__office"], approvals_expire_ms: 3_600_000 },
  };
  const { id } = await console.client.sessions.create({ agent_definition, message: order(...steps), ...more });
  return id;
}

const touch = (name: string): Step => ["Bash", { command: `touch ${name}` }];
const made = (name: string): boolean => existsSync(join(console.directory, name));
const card = (name: string, on = page): Locator => on.getByRole("article", { name });

/** To another page, and back to what waits. */
async function lookAway(): Promise<void> {
  await page.getByRole("link", { name: "Answered" }).click();
  await card("").first().waitFor({ state: "detached" });
  await page.getByRole("link", { name: /^Waiting/ }).click();
}

/** What the model was told last. */
const told = (): string => console.model?.requests.at(-1)?.last ?? "";

test("calls are allowed, denied, edited and remembered, by click and by key", async () => {
  await page.getByText("Nothing needs your approval").waitFor();
  writeFileSync(join(console.directory, "notes.txt"), "one\ntwo\n");
  const id = await start([
    ["Bash", { command: "touch allowed.txt && ls | wc -l", timeout: 5_000 }],
    touch("denied.txt"),
    touch("before.txt"),
    touch("kept.txt"),
    ["Read", { file_path: join(console.directory, "notes.txt") }],
    ["Write", { file_path: join(console.directory, "notes.txt"), content: "one\nthree\n" }],
  ]);
  const first = card("Run touch allowed.txt && ls | wc -l");
  await first.getByText("3 programs").waitFor();
  await first.getByText("wc -l", { exact: true }).waitFor();
  await first.getByText("5000").waitFor();
  await first.getByText("default:ask").waitFor();
  await first.getByText("then it is denied").waitFor();
  await expect.poll(() => page.title()).toBe("(1) Approvals · Capstan");
  expect(await seriousBarriers(page)).toEqual([]);
  await first.getByRole("button", { name: "Allow once" }).click();
  await first.getByText("(you)").waitFor();
  await expect.poll(() => made("allowed.txt")).toBe(true);

  // By keyboard alone. The second key of a pair allows nothing.
  const second = card("Run touch denied.txt");
  await second.waitFor();
  await page.keyboard.press("j");
  await expect.poll(() => second.getAttribute("aria-current")).toBe("true");
  const reason = second.getByLabel("Why not?");
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  await expect
    .poll(async () => {
      await page.keyboard.press("d");
      return reason.isVisible();
    })
    .toBe(true);
  await page.keyboard.type("Not that one.");
  await page.keyboard.press("Control+Enter");
  await second.getByText("Message to the agent").waitFor();
  await expect.poll(told).toContain("Not that one.");
  expect(made("denied.txt")).toBe(false);

  const third = card("Run touch before.txt");
  await third.getByRole("button", { name: "Edit…" }).click();
  await third.getByLabel("Command to run instead").fill("touch after.txt");
  await third.getByRole("button", { name: "Allow as edited" }).click();
  await expect.poll(() => made("after.txt")).toBe(true);
  expect(made("before.txt")).toBe(false);

  const fourth = card("Run touch kept.txt");
  await fourth.getByText("This session").click();
  const rule = await fourth.getByLabel("Rule", { exact: true }).inputValue();
  expect(rule).toContain("touch kept.txt");
  await fourth.getByRole("button", { name: "Allow in this session" }).click();
  await fourth.getByText(rule).waitFor();
  expect(await console.client.grants.list()).toMatchObject([{ rule, scope: "session", session_id: id }]);

  const fifth = card("Write ");
  await fifth
    .getByRole("region", { name: /Changes in/ })
    .getByText("three")
    .waitFor();
  await fifth.getByRole("button", { name: "Edit…" }).click();
  const json = fifth.getByLabel("Input to use instead");
  await json.fill("{ nothing");
  await fifth.getByText("This is not valid JSON").waitFor();
  await page.keyboard.press("Escape");
  await fifth.getByRole("button", { name: "Allow once" }).click();
  await expect.poll(() => readFileSync(join(console.directory, "notes.txt"), "utf8")).toBe("one\nthree\n");

  await page.getByRole("button", { name: "Dismiss 5 answered" }).click();
  await page.getByText("Nothing needs your approval").waitFor();
  await expect.poll(() => page.title()).toBe("Approvals · Capstan");
  await page.getByRole("link", { name: "Answered" }).click();
  await page.getByText("Not that one.").waitFor();
  expect(await seriousBarriers(page)).toEqual([]);
  await page.getByRole("link", { name: "Waiting" }).click();
  expect(console.complaints).toEqual([]);
});

test("questions, forms, plans and results are given on a phone", async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  const sizes = {
    question: "Which sizes?",
    multiSelect: true,
    options: ["small", "large"].map((label) => ({ label, description: `A ${label} one.` })),
  };
  await start([
    ["AskUserQuestion", { questions: [WHICH_COLOUR, { ...sizes, header: "Sizes" }] }],
    ["mcp__capstan__lookup", { key: "colour" }],
    ["mcp__office__book", {}],
    touch("a-rather-long-name-that-does-not-fit-into-one-line-of-a-phone.txt"),
  ]);
  const question = card("Question from the agent");
  await question.getByRole("button", { name: "Answer", exact: true }).click();
  await question.getByText("An answer is required.").first().waitFor();
  const colours = question.getByRole("group", { name: "Which colour?" });
  await colours.getByText("Other").click();
  await question.getByLabel("Your own answer to: Which colour?").fill("green");
  await question.getByText("small", { exact: true }).click();
  await question.getByText("large", { exact: true }).click();
  await question.getByRole("button", { name: "Add a note" }).first().click();
  await question.getByLabel("Note on: Which colour?").fill("As grass.");
  await lookAway();
  expect(await question.getByLabel("Note on: Which colour?").inputValue()).toBe("As grass.");
  expect(await seriousBarriers(page)).toEqual([]);
  await question.getByRole("button", { name: "Answer", exact: true }).click();
  await expect.poll(told).toContain("green");
  expect(told()).toContain("small, large");
  expect(told()).toContain("As grass.");

  const custom = card("lookup");
  await custom.getByLabel("Result").fill("It is blue.");
  await custom.getByLabel("The tool failed").check();
  await lookAway();
  await custom.getByRole("button", { name: "Send result" }).click();
  await expect.poll(told).toContain("It is blue.");
  expect(console.model?.requests.at(-1)?.toolResults.at(-1)?.isError).toBe(true);

  const form = card("Question from the MCP server office");
  await form.getByRole("group", { name: "Room" }).getByText("blue").click();
  // Who is done with one of several fields is not done with all of them.
  await form.getByLabel("people").fill("4");
  await form.getByLabel("people").press("Enter");
  expect(await form.getByText("An answer is required.").count()).toBe(0);
  await form.getByLabel("people").fill("13");
  await form.getByLabel("catering").selectOption("Yes");
  await form.getByRole("button", { name: "Answer", exact: true }).click();
  // What only the server knows, it says.
  await form.getByText(/expected at most 12/).waitFor();
  await form.getByLabel("people").fill("4");
  await form.getByLabel("people").press("Control+Enter");
  await expect
    .poll(() => office(console.directory).listDone())
    .toEqual(['{"action":"accept","content":{"room":"blue","people":4,"catering":true}}']);

  const call = card("Run touch a-rather-long-name");
  const allow = call.getByRole("button", { name: "Allow once" });
  await call.scrollIntoViewIfNeeded();
  expect((await allow.boundingBox())?.height).toBeGreaterThanOrEqual(40);
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
  expect(await seriousBarriers(page)).toEqual([]);
  await allow.click();

  const draft = "# The plan\n\n1. Look a\u200Bround\n2. Write it down\n\n[unseen]: https://example.com";
  const deep = `${">".repeat(100)} deep\n${"so on\n".repeat(9_000)}the end`;
  const plans = [draft, deep].map((text): Step => ["ExitPlanMode", { plan: text }]);
  const id = await start(plans, { mode: "plan" });
  const plan = card("Plan to approve");
  await plan.getByText("Look a\\u{200b}round").waitFor();
  await plan.getByRole("button", { name: "Show source" }).click();
  await plan.getByText("[unseen]: https://example.com").waitFor();
  await plan.getByRole("button", { name: "Send back…" }).click();
  await plan.getByLabel("What should change?").fill("Shorter.");
  await plan.getByRole("button", { name: "Send back", exact: true }).click();
  await expect.poll(told).toContain("Shorter.");
  await plan.getByText(/more characters not shown\./).waitFor();
  expect(await plan.getByText("the end").count()).toBe(0);
  await plan.getByRole("button", { name: "Show all", exact: true }).click();
  await plan.getByText("the end").waitFor();
  await plan.getByRole("button", { name: "Approve" }).click();
  await plan.getByText("Approved").waitFor();
  await expect.poll(async () => (await console.client.sessions.get(id)).state.mode).toBe("normal");
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(console.complaints).toEqual([]);
});

test("of two people the second sees who was first, and a viewer only looks", async () => {
  await page.goto(`${console.url}/approvals`);
  const other = await console.visitor("operator");
  await other.goto(`${console.url}/approvals`);
  const viewer = await console.visitor("viewer");
  await viewer.goto(`${console.url}/approvals`);
  await start([touch("raced.txt"), touch("seen.txt")]);

  const mine = card("Run touch raced.txt");
  await mine.waitFor();
  const looked = card("Run touch raced.txt", viewer);
  await looked.getByText("Your viewer role is read-only").waitFor();
  expect(await looked.getByRole("button").count()).toBe(0);
  // This page's news are held up, so that it does not know yet.
  await page.route("**/api/approvals?*", () => {});
  await card("Run touch raced.txt", other).getByRole("button", { name: "Allow once" }).click();
  await card("Run touch raced.txt", other).getByText("(you)").waitFor();
  await mine.getByRole("button", { name: "Deny…" }).click();
  await mine.getByRole("button", { name: "Deny", exact: true }).click();
  await mine.getByText("Someone else answered first").waitFor();
  await mine.getByText("a operator").waitFor();
  await mine.getByText("Allowed").waitFor();
  expect(await mine.getByRole("button").count()).toBe(0);
  await page.unroute("**/api/approvals?*");
  await page.reload();

  // Answered elsewhere while it is open: it stays, and tells it.
  const later = card("Run touch seen.txt");
  await later.getByRole("button", { name: "Deny…" }).waitFor();
  const theirs = card("Run touch seen.txt", other);
  await theirs.getByRole("button", { name: "Deny…" }).click();
  await theirs.getByLabel("Why not?").fill("We do not need it.");
  await theirs.getByRole("button", { name: "Deny", exact: true }).click();
  await later.getByText("We do not need it.").waitFor();
  await later.getByText("a operator").waitFor();
  expect(made("seen.txt")).toBe(false);
  expect(console.complaints).toEqual([]);
});

test("who looks elsewhere is notified of what is new, and a click leads there", async () => {
  const other = await console.visitor("operator");
  await other.context().grantPermissions(["notifications"], { origin: console.url });
  // Looks on: the browser's own notifications, kept for the test.
  await other.addInitScript(`
    globalThis.shown = [];
    globalThis.Notification = class extends Notification {
      constructor(...given) {
        super(...given);
        shown.push(this);
      }
    };
  `);
  const shown = (): Promise<string[]> => other.evaluate("shown.map(({ body }) => body)");
  await start([touch("old.txt")]);
  await card("Run touch old.txt").waitFor();
  await other.goto(`${console.url}/approvals`);
  await other.getByRole("button", { name: "Notify me" }).click();
  await other.getByRole("button", { name: "Notifications on" }).waitFor();
  await other.goto(`${console.url}/costs`);
  await expect.poll(() => other.title()).toContain("(1) ");
  await start([touch("new.txt")]);
  await expect.poll(shown).toEqual(["helper: Run touch new.txt"]);
  expect(await other.title()).toContain("(2) ");
  await other.evaluate('shown[0].dispatchEvent(new Event("click"))');
  const wanted = card("Run touch new.txt", other);
  await expect.poll(() => wanted.getAttribute("aria-current")).toBe("true");
  await expect
    .poll(async () => {
      await other.keyboard.press("a");
      return wanted.getByText("(you)").isVisible();
    })
    .toBe(true);
  await expect.poll(() => made("new.txt")).toBe(true);
  expect(made("old.txt")).toBe(false);
});
