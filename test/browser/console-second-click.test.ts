import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openConsole } from "../support/console.ts";
import { obedient, order, type Step } from "../support/obedient-model.ts";

const touch = (name: string): Step => ["Bash", { command: `touch ${name}` }];

test("the second click of two answers nothing that has come under it, and later clicks do", async () => {
  await using console = await openConsole({ script: obedient });
  const { page } = console;
  for (const name of ["first.txt", "second.txt"]) await console.client.sessions.create({ message: order(touch(name)) });
  await expect.poll(async () => (await console.client.approvals.list({ status: "pending" })).length).toBe(2);
  await page.clock.install();
  await page.goto(`${console.url}/approvals`);
  const [first, second] = ["first.txt", "second.txt"].map((name) => {
    const card = page.getByRole("article", { name: `Run touch ${name}` });
    return { card, allow: card.getByRole("button", { name: "Allow once" }) };
  });
  await second?.allow.waitFor();
  const answers: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/answer")) answers.push(request.url());
  });

  // The time of the page stands still, however long this machine takes.
  await page.clock.pauseAt(Date.now() + 60_000);
  await first?.allow.click();
  await first?.card.getByText("(you)").waitFor();
  // A button that would not act does not look as if it did.
  const pointer = "getComputedStyle([...document.querySelectorAll('[data-actions]')].at(-1)).pointerEvents";
  expect(await page.evaluate(pointer)).toBe("none");
  const box = await second?.allow.boundingBox();
  await page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
  // Whatever was sent before has been heard of when this has.
  await page.evaluate("fetch('/api/whoami').then((answer) => answer.text())");
  expect(answers).toHaveLength(1);

  await page.clock.runFor(500);
  await page.mouse.click((box?.x ?? 0) + 5, (box?.y ?? 0) + 5);
  await second?.card.getByText("(you)").waitFor();
  await expect.poll(() => existsSync(join(console.directory, "second.txt"))).toBe(true);
  expect(answers).toHaveLength(2);
});
