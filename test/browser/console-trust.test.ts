import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isTooWide, seriousBarriers } from "../support/barriers.ts";
import { openConsole } from "../support/console.ts";

const WIDE = "permissions:\n  mode: yolo\n";

test("an admin sees what a file would widen and trusts exactly that; the next session runs with it", async () => {
  await using console = await openConsole({ settings: "permissions:\n  deny: [WebFetch]\n" });
  const { page, client, url } = console;
  const file = join(console.directory, ".capstan/config.yaml");
  const hint = page.getByText("1 project file is not trusted, so some of its settings have no effect.");
  const start = async (): Promise<void> => {
    await page.goto(`${url}/new`);
    await page.getByLabel("First message").fill("run echo hello");
    await page.getByRole("button", { name: "Start" }).click();
    await page.waitForURL(/\/sessions\//);
  };
  await page.goto(`${url}/new`);
  await page.getByLabel("First message").waitFor();
  expect(await hint.count()).toBe(0);

  // Someone, perhaps an agent, changes the settings. Sessions still ask.
  writeFileSync(file, `${WIDE}  allow: ["Bash(rm\u202E *)"]\n`);
  await start();
  const [asked] = await client.approvals.list({ status: "pending", wait: 30 });
  await client.approvals.answer(asked?.id ?? "", { behavior: "deny" });
  await page.goto(`${url}/new`);
  await hint.waitFor();
  await page.getByRole("link", { name: "Review" }).click();
  const entry = page.getByRole("article", { name: ".capstan/config.yaml" });
  await entry.getByText('permissions.mode: yolo (now "normal")').waitFor();
  await entry.getByText("lets more tool calls run without asking").waitFor();
  await entry.getByText(String.raw`permissions.allow: ["Bash(rm\u{202e} *)"]`).waitFor();
  const difference = page.getByRole("region", { name: "Changes in .capstan/config.yaml" });
  await difference.getByText("deny: [WebFetch]").waitFor();
  await difference.getByText(String.raw`allow: ["Bash(rm\u{202e} *)"]`).waitFor();
  await expect.poll(() => page.getByRole("heading", { name: "Trust" }).isVisible()).toBe(true);
  expect(await seriousBarriers(page)).toEqual([]);
  const trust = entry.getByRole("button", { name: "Trust this content" });

  // People who are not admins can look at most.
  const operator = await console.visitor("operator");
  await operator.goto(`${url}/settings`);
  await operator.getByText("Only admins can trust files.").waitFor();
  await operator.getByText('permissions.mode: yolo (now "normal")').waitFor();
  expect(await operator.getByRole("button", { name: /^Trust|^Revoke/ }).count()).toBe(0);
  const viewer = await console.visitor("viewer");
  await viewer.goto(`${url}/settings`);
  await viewer.getByText("Only operators and admins can see which project files are trusted.").waitFor();
  expect(await viewer.getByText("yolo").count()).toBe(0);

  // It changes again before the click: nothing is trusted, and the new content is there to look at.
  writeFileSync(file, WIDE);
  await trust.click();
  await page.getByRole("alert").getByText("nothing was trusted").waitFor();
  await expect.poll(() => entry.getByText("permissions.allow").count()).toBe(0);
  expect(await client.trust.list()).toMatchObject([{ trusted: false }]);
  expect(await seriousBarriers(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await isTooWide(page)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });

  await trust.click();
  await entry.getByText("Trusted by tester").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  await start();
  await page.getByText("Exit code 0").waitFor();
  await page.getByRole("button", { name: "yolo" }).waitFor();
  expect((await client.approvals.list({})).map(({ id }) => id)).toEqual([asked?.id]);

  // Someone changes it again: the trust in what it was before can be taken back all the same.
  writeFileSync(file, `${WIDE}  allow: [Bash]\n`);
  await page.goto(`${url}/settings`);
  await entry.getByText("Changed since tester trusted it").waitFor();
  await entry.getByRole("button", { name: "Revoke trust in .capstan/config.yaml" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await trust.waitFor();
  expect(await client.trust.list()).toMatchObject([{ trusted: false, diff: null }]);
  expect(console.complaints).toEqual([]);
});
