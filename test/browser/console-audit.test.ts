import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openConsole } from "../support/console.ts";

const AXE = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** What is seriously wrong for somebody who cannot see the page or use a mouse. */
async function barriers(page: Page): Promise<unknown> {
  await page.evaluate(AXE);
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`,
  );
}

test("a session's time line is stepped through with the state as it was, verified and downloaded", async () => {
  await using console = await openConsole();
  const { page, client, url } = console;
  const { id } = await client.sessions.create({
    title: "Write a note",
    message: "write note.txt with hello then run echo done",
  });
  const answered = new Set<string>();
  await expect
    .poll(async () => {
      for (const { id: approval } of await client.approvals.list({ status: "pending" }))
        if (!answered.has(approval)) {
          answered.add(approval);
          await client.approvals.answer(approval, { behavior: "allow" });
        }
      const { state } = await client.sessions.get(id);
      return state.status === "idle" && state.stop_reason?.type === "end_turn";
    })
    .toBe(true);
  expect(answered.size).toBeGreaterThan(0);
  const { head, state: last } = await client.sessions.get(id);
  const events = await Array.fromAsync(client.sessions.events(id));
  const seqOf = (type: string): number => events.find((event) => event.type === type)?.seq ?? 0;

  // All sessions: sound, and found by a word of the title.
  await page.goto(`${url}/audit`);
  await page.getByText("Log of all sessions verified").waitFor();
  await page.getByRole("searchbox", { name: "Search sessions" }).fill("nothing like it");
  await page.getByText("No session matches").waitFor();
  await page.getByRole("searchbox").fill("note");
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("link", { name: "Write a note", exact: true }).click();

  // From the first event on, by keys.
  const detail = page.getByRole("complementary", { name: "Event" });
  const line = (name: string) => detail.locator("dl > div").filter({ has: page.locator("dt", { hasText: name }) });
  await detail.getByText(`Event 1 of ${head}`).waitFor();
  for (let seq = 2; seq <= seqOf("session.status_running"); seq += 1) {
    await page.keyboard.press("j");
    await detail.getByText(`Event ${seq} of ${head}`).waitFor();
  }
  await detail.getByText("Turn started").waitFor();
  await expect.poll(() => line("Status").textContent()).toContain("running");
  await expect.poll(() => line("Status").getAttribute("data-changed")).toBe("true");
  expect(await line("Spent").textContent()).toContain("$0");
  await page.keyboard.press("End");
  await detail.getByText(`Event ${head} of ${head}`).waitFor();
  await expect.poll(() => line("Status").textContent()).toContain("idle");
  expect(last.usd).toBeGreaterThan(0);
  await expect.poll(() => line("Spent").textContent()).toMatch(/\$0\.\d*[1-9]/);
  await expect.poll(() => new URL(page.url()).search).toBe(`?seq=${head}`);
  await page.keyboard.press("Home");
  await detail.getByText(`Event 1 of ${head}`).waitFor();

  // A filter leaves only its own, and steps go from one of them to the next.
  await page.getByRole("button", { name: "Decisions" }).click();
  const types = events.filter(({ type }) => /permission_decided|approval_requested|tool_confirmation/.test(type));
  await expect.poll(() => page.getByRole("option").count()).toBe(types.length);
  await page.keyboard.press("j");
  await detail.getByText(`Event ${types[0]?.seq} of`).waitFor();
  await page.keyboard.press("End");
  await detail.getByText(`Event ${types.at(-1)?.seq} of`).waitFor();
  await page.getByRole("button", { name: "Decisions" }).click();

  // A link to the call says who decided, and what a person answered from where.
  const asked = events.find((event) => event.type === "capstan.approval_requested");
  const call = events.find(({ id: event }) => event === asked?.tool_use_id)?.seq;
  await page.goto(`${url}/audit/${id}?seq=${call}`);
  const told = detail.getByRole("region", { name: "Call" });
  await expect.poll(() => told.textContent()).toContain(asked?.asked_by);
  expect(await told.textContent()).toMatch(/Answerallowed by .*Decisionallowed by person:.*Outcomecompleted/);
  expect(await page.getByRole("option", { selected: true }).getAttribute("id")).toBe(`event-${call}`);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("slider", { name: "Position in the log" }).focus();
  await page.keyboard.press("ArrowRight");
  await detail.getByText(`Event ${(call ?? 0) + 1} of`).waitFor();

  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByText("Log of this session verified").waitFor();
  const started = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download log" }).click();
  const lines = (await readFile(await (await started).path(), "utf8")).trimEnd().split("\n");
  // The first line tells of the session.
  expect(lines.length).toBe(head + 1);

  // A phone shows the event over the list.
  await page.setViewportSize({ width: 360, height: 640 });
  await page.goto(`${url}/audit/${id}`);
  await page.getByRole("option").nth(2).waitFor();
  expect(await detail.isVisible()).toBe(false);
  await page.getByRole("option").nth(2).click();
  await detail.getByText("State after this event").waitFor();
  await page.getByRole("button", { name: "Back to the list" }).click();
  expect(await detail.isVisible()).toBe(false);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);

  // Whoever changes the store is found out: what is wrong, where, and what to do.
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${url}/audit`);
  await page.getByText("Log of all sessions verified").waitFor();
  {
    using store = new DatabaseSync(join(dirname(console.directory), "home", "capstan.db"));
    store.prepare("UPDATE events SET event = replace(event, 'note', 'vote') WHERE session_id = ? AND seq = 1").run(id);
  }
  await page.getByRole("button", { name: "Verify now" }).click();
  await page.getByText("Verification of all sessions failed").waitFor();
  await page.getByText("What to do:").first().waitFor();
  expect(await page.getByRole("row").filter({ hasText: "Write a note" }).textContent()).toContain("altered");
  expect(await barriers(page)).toEqual([]);
  await page
    .getByRole("link", { name: `${id}, event 1` })
    .first()
    .click();
  await detail.getByText(`Event 1 of ${head}`).waitFor();

  // Deleted while somebody looks; and never there.
  await client.sessions.delete(id);
  await page.getByText("Session deleted").waitFor({ timeout: 30_000 });
  await page.goto(`${url}/audit/sesn_nobody`);
  await page.getByText("Session not found").waitFor();
  await page.getByRole("link", { name: "Go to the audit of all sessions" }).click();
  await page.getByRole("heading", { name: "Audit" }).waitFor();
  expect(console.complaints).toEqual([]);
});
