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
