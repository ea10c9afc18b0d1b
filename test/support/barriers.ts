import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const AXE = fileURLToPath(new URL("../../node_modules/axe-core/axe.min.js", import.meta.url));

/** What axe finds on a page that keeps people out, with the elements. */
export async function seriousBarriers(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE, "utf8"));
  return page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => id + " " + nodes.map(({ html }) => html).join(" ")))`);
}

/** Whether a page must be scrolled sideways. */
export async function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(
    "document.documentElement.scrollWidth > innerWidth || document.querySelector('main').scrollWidth > innerWidth",
  );
}
