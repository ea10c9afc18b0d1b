import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventDraft } from "../../src/core/events/events.ts";
import { type Console, openConsole } from "../support/console.ts";
import { writtenSession } from "../support/written-session.ts";

/** What is far from the end of a log is found all the same, and who reads keeps their place. */

let console: Console;
beforeAll(async () => {
  console = await openConsole();
});
afterAll(() => console[Symbol.asyncDispose]());

const log = () => console.page.getByRole("log", { name: "Transcript" });
const THREAD = "sthr_1_worker";
const said = (text: string, thread: string | null = null): EventDraft => ({
  type: "agent.message",
  session_thread_id: thread,
  content: [{ type: "text", text }],
});
const spoke = (count: number, thread: string | null = null): EventDraft[] =>
  Array.from({ length: count }, (_, index) => said(`${thread === null ? "Main" : "Worker"} says ${index}.`, thread));

/** In pixels: how far the end is below what is in view. */
const toGo = (list: Locator): Promise<number> =>
  list.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);

/** Until the list has not moved for a while: what it still measures would move it by itself. */
async function stillness(list: Locator): Promise<void> {
  const at = (): Promise<string> => list.evaluate((one) => `${one.scrollTop} ${one.scrollHeight}`);
  for (let before = "", now = await at(); now !== before; now = await at()) {
    before = now;
    await list.page().waitForTimeout(500);
  }
}

test("a line of the session that was quiet for long is found, on either side", async () => {
  const { page, url } = console;
  const id = await writtenSession(console, [
    said("Where it all began."),
    {
      type: "session.thread_created",
      session_thread_id: THREAD,
      agent_name: "worker",
      workflow_run_id: null,
      parent_thread_id: null,
      call_id: "toolu_1",
      task: "work",
    },
    said("The worker begins.", THREAD),
    ...spoke(700),
    ...spoke(700, THREAD),
  ]);
  // The end of the log is the worker's alone.
  await page.goto(`${url}/sessions/${id}`);
  await log().getByText("Main says 699.").waitFor();
  await page.goto(`${url}/sessions/${id}?thread=${THREAD}`);
  await log().getByText("Worker says 699.").waitFor();
  expect(console.complaints).toEqual([]);
});

test("who reads further up keeps their place while more comes at both ends", async () => {
  const { page, url, client } = console;
  const id = await writtenSession(console, spoke(1_000));
  await page.goto(`${url}/sessions/${id}`);
  await log().getByText("Main says 999.").waitFor();
  await log().hover();
  // As far as a first page goes, and beyond.
  for (let turns = 0; turns < 40 && (await log().getByText("Main says 700.").count()) === 0; turns += 1) {
    await page.mouse.wheel(0, -2_000);
    await page.waitForTimeout(50);
  }
  const row = log().getByText("Main says 700.");
  await row.scrollIntoViewIfNeeded();
  await page.waitForTimeout(300);
  const before = await row.boundingBox();
  await client.sessions.send(id, "list the files");
  await page.getByRole("button", { name: /new$/ }).waitFor();
  const after = await row.boundingBox();
  expect(Math.abs((after?.y ?? 0) - (before?.y ?? 1_000))).toBeLessThan(2);
  await page.getByRole("button", { name: /new$/ }).click();
  await page.getByRole("article", { name: "You said" }).getByText("list the files").waitFor();
  expect(console.complaints).toEqual([]);
});

test("the end stays in view when there is less room for it, and so does what comes next", async () => {
  const { page, url, client } = console;
  const id = await writtenSession(console, spoke(40));
  await page.goto(`${url}/sessions/${id}`);
  const last = log().getByText("Main says 39.");
  await last.waitFor();
  await stillness(log());
  // As an approval does that opens below, or a long message.
  await page.setViewportSize({ width: 1280, height: 450 });
  await expect.poll(() => toGo(log())).toBeLessThan(2);
  await client.sessions.send(id, "list the files");
  await page.getByRole("article", { name: "You said" }).getByText("list the files").waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(console.complaints).toEqual([]);
});

test("who reads further up and sends a message is taken to it", async () => {
  const { page, url } = console;
  const id = await writtenSession(console, spoke(100));
  await page.goto(`${url}/sessions/${id}`);
  await log().getByText("Main says 99.").waitFor();
  await stillness(log());
  await log().hover();
  await page.mouse.wheel(0, -2_000);
  await page.getByRole("button", { name: "Jump to newest" }).waitFor();
  await page.getByRole("textbox", { name: "Message to the agent" }).fill("list the files");
  await page.keyboard.press("Enter");
  await page.getByRole("article", { name: "You said" }).getByText("list the files").waitFor();
  await expect.poll(() => toGo(log())).toBeLessThan(2);
  expect(console.complaints).toEqual([]);
});
