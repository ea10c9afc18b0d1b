import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { type Console, openConsole } from "../support/console.ts";

/** One person's way through a session, step by step: each test goes on where the one before has stopped. */

let console: Console;
let page: Page;
beforeAll(async () => {
  console = await openConsole();
  ({ page } = console);
  writeFileSync(join(console.directory, "notes.txt"), "Buy milk.\n");
  await console.client.agents.create({
    definition: {
      name: "builder",
      instructions: "Build.",
      model: "claude-opus-4-8",
      tools: ["Bash", "Read", "Write", "Edit", "Glob", "Agent", "AskUserQuestion"],
      permissions: { allow: ["Read", "Glob", "Agent"], mode: "normal", ask: [], deny: [] },
      budget: {},
      subagents: {},
    },
  });
});
afterAll(() => console[Symbol.asyncDispose]());

/** One transparent pixel. */
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const sessionId = (): string => new URL(page.url()).pathname.split("/").at(-1) ?? "";

async function say(text: string): Promise<void> {
  const area = page.getByRole("textbox", { name: "Message to the agent" });
  await area.fill(text);
  // The one before was taken.
  await page.getByRole("button", { name: /^(Send|Queue)$/ }).click({ trial: true });
  await area.press("Enter");
  // It is in the log, and so survives whatever comes next.
  await page.getByRole("article", { name: "You said" }).filter({ hasText: text }).last().waitFor();
}

const idle = (): Promise<void> => page.getByRole("status", { name: "Session status" }).getByText("idle").waitFor();
const log = () => page.getByRole("log", { name: "Transcript" });
const card = (name: string | RegExp) => page.getByRole("article", { name });

test("a new session is started with the keyboard alone, and asks before it writes", async () => {
  await page.keyboard.press("n");
  const message = page.getByLabel("First message");
  await message.waitFor();
  await page.keyboard.type("write a.txt with hello");
  await page.getByLabel("Agent").selectOption({ label: "builder (version 1)" });
  await message.focus();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await expect.poll(() => page.title()).toContain("(1)");
  expect(existsSync(join(console.directory, "a.txt"))).toBe(false);
});

test("an approval by click lets it run, and its change is shown as a diff", async () => {
  await page.getByRole("button", { name: "Allow once" }).click();
  await idle();
  expect(readFileSync(join(console.directory, "a.txt"), "utf8")).toBe("hello");
  await card(/^Write/)
    .getByText("done")
    .waitFor();
  await card(/^Write/)
    .getByText("Allowed by tester")
    .waitFor();
  await page
    .getByRole("list", { name: "Changed files" })
    .getByRole("button", { name: /a\.txt/ })
    .click();
  const dialog = page.getByRole("dialog", { name: "a.txt" });
  await dialog.getByRole("cell", { name: "hello", exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

test("a question is answered with one of its options", async () => {
  await say("ask me: red or blue?");
  await page.getByRole("radio").first().check();
  await page
    .getByRole("button", { name: /^Answer|^Send/ })
    .first()
    .click();
  await idle();
});

test("subagents stand in a tree, and each can be opened", async () => {
  await say("review notes.txt with two subagents");
  await page.getByRole("tab", { name: /^Threads/ }).click();
  await expect.poll(() => page.getByRole("navigation", { name: "Threads" }).getByRole("listitem").count()).toBe(2);
  await idle();
  await page.getByRole("navigation", { name: "Threads" }).getByRole("listitem").first().getByRole("button").click();
  await page.getByText("Back to the main thread").waitFor();
  await card(/^Read/).waitFor();
  await page.getByRole("button", { name: "Back to the main thread" }).click();
  await expect.poll(() => card(/^Subagent/).count()).toBe(2);
});

test("an interrupt ends a command that runs, and the session goes on", async () => {
  await say("run sleep 300");
  await page.getByRole("button", { name: "Allow once" }).click();
  await card(/^Run/).last().getByText("running").waitFor();
  await page.getByRole("button", { name: "Interrupt" }).click();
  await page.getByText("Interrupted", { exact: true }).waitFor();
  await idle();
});

test("a message is queued while the agent works, and is taken up by itself", async () => {
  await say("run sleep 2");
  await page.getByRole("button", { name: "Allow once" }).click();
  await say("list the files");
  await page.getByText("queued").waitFor();
  await idle();
  await expect.poll(() => page.getByText("queued").count()).toBe(0);
});

test("files go with a message, and what the model cannot read is refused with the next step", async () => {
  const chooser = page.getByLabel("Files to attach");
  await chooser.setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: Buffer.from(DOT, "base64") },
    { name: "list.txt", mimeType: "text/plain", buffer: Buffer.from("milk\nbread\n") },
    { name: "program", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2]) },
  ]);
  await page.getByText(/program is not an image, PDF or text file/).waitFor();
  await page.getByRole("button", { name: "Dismiss" }).last().click();
  await expect.poll(() => page.getByRole("list", { name: "Attachments" }).getByRole("listitem").count()).toBe(2);
  await say("list the files");
  await page.getByRole("img", { name: "Attached to the message" }).waitFor();
  await page.getByText("list.txt (text/plain)").waitFor();
  await idle();
});

test("the mode is changed on the way, and the log says so", async () => {
  await page.getByRole("button", { name: "Mode: normal" }).click();
  await page.getByRole("menuitemradio", { name: /^accept-edits/ }).click();
  await page.getByText("The mode is now accept-edits").waitFor();
  await say("write b.txt with bye");
  await expect.poll(() => existsSync(join(console.directory, "b.txt"))).toBe(true);
  await idle();
  const download = page.waitForEvent("download");
  await page.getByRole("tab", { name: "Files" }).click();
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "As a patch" }).click();
  expect(readFileSync(await (await download).path(), "utf8")).toContain("+bye");
});

test("a fork from a message is a session of its own, with the message to be changed", async () => {
  const parent = sessionId();
  await page.getByRole("article", { name: "You said" }).filter({ hasText: "write b.txt with bye" }).hover();
  await page
    .getByRole("article", { name: "You said" })
    .filter({ hasText: "write b.txt with bye" })
    .getByRole("button", { name: "Fork from before this message" })
    .click();
  await expect.poll(sessionId).not.toBe(parent);
  await expect
    .poll(() => page.getByRole("textbox", { name: "Message to the agent" }).inputValue())
    .toBe("write b.txt with bye");
  await page.goto(`${console.url}/sessions/${parent}`);
});

test("a rewind brings the files back, and says what it changes before it does", async () => {
  await page.getByRole("tab", { name: "Files" }).click();
  await page.getByRole("button", { name: "Rewind", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Rewind files" });
  await dialog.getByRole("radio").last().check();
  await dialog.getByText("deleted: a.txt").waitFor();
  await dialog.getByRole("button", { name: "Rewind", exact: true }).click();
  await page.getByText("The files were rewound").waitFor();
  expect(existsSync(join(console.directory, "a.txt"))).toBe(false);
  await page.getByText("No changes.").waitFor();
  await page.getByRole("button", { name: "Rewind", exact: true }).click();
  await dialog.getByRole("button", { name: "Undo last rewind" }).click();
  await expect.poll(() => existsSync(join(console.directory, "a.txt"))).toBe(true);
  await dialog.waitFor({ state: "detached" });
});

async function changeLimit(usd: string): Promise<void> {
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Change limit" }).click();
  await page.getByLabel("Limit in USD").fill(usd);
  await page.getByRole("button", { name: "Save" }).click();
  // It closes when the server has it.
  await page.getByRole("dialog", { name: "Change limit" }).waitFor({ state: "detached" });
}

test("a limit that is reached stops the turn, and the page says what to do", async () => {
  await changeLimit("0.0001");
  await say("list the files");
  await log()
    .getByText(/^Session limit reached/)
    .waitFor();
  await page.getByText("Stopped at a limit").waitFor();
});

test("nothing is missed by a reload, nor by a server that restarts, in the middle of a turn", async () => {
  await changeLimit("50");
  // The model gets it now. It also gets what the limit kept from it, and which of the two it answers is the engine's.
  await say("list the files");
  await log()
    .getByText(/^Files:/)
    .last()
    .waitFor();
  await idle();
  await say("run sleep 3; echo survived");
  await page.reload();
  // What waited still waits.
  await page.getByRole("button", { name: "Allow once" }).waitFor();
  await console.stop();
  await page.getByText(/Connection lost/).waitFor();
  await console.start();
  await expect.poll(() => page.getByText(/Connection lost/).count()).toBe(0);
  await page.getByRole("button", { name: "Allow once" }).click();
  await card(/^Run/).last().getByText("survived", { exact: true }).waitFor();
  await idle();
  // What the page shows of this turn is what the log has of it, once each and in order.
  const said: string[] = [];
  for await (const event of console.client.sessions.events(sessionId(), { types: ["user.message"] }))
    if (event.type === "user.message")
      said.push(event.content.map((block) => (block.type === "text" ? block.text : "")).join(""));
  const shown = await log().getByRole("article", { name: "You said" }).locator("p").allTextContents();
  expect(shown.length).toBeGreaterThan(0);
  expect(said.join("\n")).toContain(shown.at(-1));
  expect(shown.filter((text) => text === "run sleep 3; echo survived")).toHaveLength(1);
  expect(console.complaints).toEqual([]);
});

test("what a session did on a copy of its own is applied to where the files came from", async () => {
  const { id } = await console.client.sessions.create({
    environment: parseEnvironment({ workspace: { kind: "copy", mounts: [{ source: ".", target: "." }] } }),
    mode: "accept-edits",
    message: "write applied.txt with hello",
  });
  await page.goto(`${console.url}/sessions/${id}`);
  await page.getByRole("button", { name: "Apply" }).click();
  const dialog = page.getByRole("dialog", { name: "Apply changes" });
  await dialog.getByText("applied.txt").waitFor();
  expect(existsSync(join(console.directory, "applied.txt"))).toBe(false);
  await dialog.getByRole("button", { name: "Apply" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(readFileSync(join(console.directory, "applied.txt"), "utf8")).toBe("hello");
});
