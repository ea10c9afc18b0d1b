import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import type { SuiteRun } from "../../src/core/suite/suite-run.ts";
import { isTooWide, seriousBarriers } from "../support/barriers.ts";
import { type Console, openConsole } from "../support/console.ts";
import { richRun, sampleCase, sampleRun, sampleSuite, sampleTrial, withTexts } from "../support/suite-run.ts";

/** Keeps runs as `capstan test` does in the project of the console. */
async function keep({ client, directory }: Console, runs: readonly SuiteRun[]): Promise<void> {
  const { project } = await client.whoami();
  await using store = await openStore(join(directory, "..", "home"), {});
  for (const run of runs) await store.suiteRuns.add({ ...run, project });
}

const CHANGES = `diff --git a/src/total.ts b/src/total.ts
--- a/src/total.ts
+++ b/src/total.ts
@@ -1,2 +1,2 @@
 export function total(items) {
-  return 1;
+  return 2;
`;

function largeRun(): SuiteRun {
  const cases = Array.from({ length: 500 }, (_, index) =>
    index % 50 === 7
      ? sampleCase(`case ${index + 1}`, {
          status: "failed",
          trials: [sampleTrial({ status: "failed", changes: CHANGES })],
        })
      : sampleCase(`case ${index + 1}`),
  );
  return sampleRun({
    id: "run_large",
    startedAt: "2026-03-02T12:00:00.000Z",
    suites: [sampleSuite("large", { cases })],
  });
}

test("suites and their runs are listed, and a run tells why a trial failed", async () => {
  await using console = await openConsole();
  const { page, complaints } = console;
  await page.goto(`${console.url}/tests`);
  await page.getByText("No test runs in this project yet").waitFor();

  const hostile = `</script><img src="http://127.0.0.1:9/x" onerror="alert(1)"> שלום ${"W".repeat(200)}`;
  await keep(console, [
    { ...richRun(), id: "run_rich", startedAt: "2026-03-03T12:00:00.000Z" },
    { ...withTexts(richRun(), hostile), format: 1, id: "run_hostile", startedAt: "2026-03-01T12:00:00.000Z" },
    largeRun(),
    ...Array.from({ length: 25 }, (_, index) =>
      sampleRun({ id: `run_old${index}`, startedAt: new Date(Date.UTC(2026, 0, index + 1)).toISOString() }),
    ),
  ]);
  await page.reload();

  const suites = page.getByRole("table", { name: "Suites" });
  const refactor = suites.getByRole("row", { name: /^refactor/ });
  expect(await refactor.textContent()).toContain("2 passed, 1 failed, 1 error, 1 not run");
  expect(await suites.getByRole("row", { name: /^answers/ }).textContent()).toContain("the run failed");
  const runs = page.getByRole("table", { name: /^Runs/ });
  expect(await runs.getByRole("row").count()).toBe(21);
  await page.getByRole("button", { name: "Show older runs" }).click();
  await expect.poll(() => runs.getByRole("row").count()).toBe(29);
  await page.getByLabel("Suite", { exact: true }).selectOption("large");
  await page.waitForURL(/suite=large/);
  await expect.poll(() => runs.getByRole("row").count()).toBe(2);
  expect(await seriousBarriers(page)).toEqual([]);

  // The run in which everything happened.
  await refactor.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "Test run failed: not everything could be run" }).waitFor();
  await page.getByText(/Replayed from cassettes/).waitFor();
  await page.getByText("list price, not billed; 1 trial of unknown price").waitFor();
  await page.getByText("suites/broken.test.yaml:3:5 cases: is missing.").waitFor();
  const failed = page.locator("#case-1-2");
  await failed.getByText("Expected the content of the file as given; found another.").waitFor();
  await failed.getByText("the tool Bash has another description").waitFor();
  await failed.getByRole("region", { name: "Changes in now" }).getByText("Runs a shell command.").waitFor();
  await failed.getByText("subagent safety").waitFor();
  await failed.getByText("denied").waitFor();
  await failed.getByRole("button", { name: /^Bash \{/ }).click();
  await failed.getByText("→ The user denied this.").waitFor();
  expect(await failed.getByRole("link", { name: "sesn_0001" }).getAttribute("href")).toBe("/sessions/sesn_0001");
  const several = page.locator("#case-1-3");
  await several.getByRole("button").first().press("Enter");
  expect(page.url()).toMatch(/#case-1-3$/);
  await several.getByRole("table", { name: /50% of the trials must/ }).waitFor();
  await several.getByRole("button", { name: /Trial 2/ }).waitFor();

  await page.getByRole("radio", { name: "Did not pass (3)" }).check();
  await expect.poll(() => page.locator("li[id^=case-]").count()).toBe(3);
  await page.getByRole("searchbox", { name: "Search cases" }).fill("nothing like it");
  await page.getByRole("button", { name: "Show all cases" }).click();
  await expect.poll(() => page.locator("li[id^=case-]").count()).toBe(7);
  expect(await seriousBarriers(page)).toEqual([]);
  const report = await page.request.get(
    `${console.url}${(await page.getByRole("link", { name: "HTML report" }).getAttribute("href")) ?? ""}`,
  );
  expect(await report.text()).toContain("Capstan test report");

  // A link to one case of many opens it, in sight, and nothing else.
  await page.goto(`${console.url}/tests/run_large#case-1-408`);
  const one = page.locator("#case-1-408");
  await one.getByRole("region", { name: "Changes in src/total.ts" }).getByText("return 2;").waitFor();
  await expect.poll(() => page.evaluate("document.activeElement.closest('li')?.id")).toBe("case-1-408");
  expect(await page.locator("button[aria-expanded=true]").count()).toBeLessThan(6);
  const box = await one.boundingBox();
  expect(box?.y).toBeGreaterThanOrEqual(0);
  expect(box?.y).toBeLessThan(800);

  // What agents said runs nothing, and nothing is wider than a telephone.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(`${console.url}/tests/run_hostile`);
  await page.getByText("Needs attention").waitFor();
  expect(await page.locator("main img").count()).toBe(0);
  expect(await isTooWide(page)).toBe(false);
  expect(await seriousBarriers(page)).toEqual([]);

  // Only an admin may delete, and is asked before.
  const viewer = await console.visitor("viewer");
  await viewer.goto(`${console.url}/tests/run_hostile`);
  await viewer.getByText("Needs attention").waitFor();
  expect(await viewer.getByRole("button", { name: "Delete" }).count()).toBe(0);
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog", { name: "Delete this run?" }).getByRole("button", { name: "Delete run" }).click();
  await page.waitForURL(`${console.url}/tests`);
  await viewer.reload();
  await viewer.getByText("Run not found").waitFor();
  expect(complaints).toEqual([]);
});
