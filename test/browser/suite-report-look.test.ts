import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { SuiteRun } from "../../src/core/suite/suite-run.ts";
import { htmlReport } from "../../src/eval/reports/html.ts";
import { openBrowser } from "../support/browser.ts";
import { richRun, sampleRun, sampleSuite, withTexts } from "../support/suite-run.ts";

let browser: Browser & AsyncDisposable;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser[Symbol.asyncDispose]());

/** A page with all of the report open. */
async function openReport(run: SuiteRun, look: Parameters<Browser["newContext"]>[0]): Promise<Page> {
  const page = await (await browser.newContext({ offline: true, ...look })).newPage();
  await page.setContent(htmlReport(run));
  await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
  return page;
}

/** Of each badge: its text, how many lines that takes, and whether all of it is seen. */
const BADGES = `[...document.querySelectorAll(".badge")].map((badge) => ({
  text: badge.textContent,
  lines: Math.floor(badge.clientHeight / Number.parseFloat(getComputedStyle(badge).lineHeight)),
  isWhole: badge.scrollWidth <= badge.clientWidth,
}))`;
interface Badge {
  readonly text: string;
  readonly lines: number;
  readonly isWhole: boolean;
}

/** Texts whose contrast with what is behind them is below what people with weak eyes need (WCAG 2, AA). */
const FAINT = `(() => {
  const numbersOf = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (part) => (part <= 10.31 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const lightOf = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) + 0.05;
  const behind = (element) => {
    const colour = numbersOf(getComputedStyle(element).backgroundColor);
    return colour[3] === 0 ? behind(element.parentElement) : colour;
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *:not(.skip)")) {
    if (![...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "")) continue;
    const lights = [lightOf(numbersOf(getComputedStyle(element).color)), lightOf(behind(element))];
    if (Math.max(...lights) / Math.min(...lights) < 4.5) faint.push(element.className + ": " + element.textContent);
  }
  return faint;
})()`;

describe.each([400, 1280])("at %i pixels", (width) => {
  const viewport = { width, height: 900 };

  test("a badge is one line, and what we say in it is seen whole", async () => {
    const regressions = ["case", "pass_rate", "usd", "duration"].map((what) => ({ what, message: "worse" }));
    for (const run of [richRun(), sampleRun({ suites: [sampleSuite("refactor", { regressions })] })]) {
      const badges = await (await openReport(run, { viewport })).evaluate<readonly Badge[]>(BADGES);
      expect(badges.length).toBeGreaterThan(3);
      expect(badges.filter(({ lines, isWhole }) => lines !== 1 || !isWhole)).toEqual([]);
    }
  });

  test("nothing makes the page wider, whatever is in a badge", async () => {
    for (const run of [richRun(), withTexts(richRun(), "W".repeat(300))]) {
      const page = await openReport(run, { viewport });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      const badges = await page.evaluate<readonly Badge[]>(BADGES);
      expect(badges.filter(({ lines }) => lines !== 1)).toEqual([]);
    }
  });
});

test("on a telephone a diff is read without scrolling it sideways", async () => {
  const page = await openReport(richRun(), { viewport: { width: 400, height: 900 } });
  const cut = `[...document.querySelectorAll(".diff")].filter((diff) => diff.scrollWidth > diff.clientWidth).length`;
  expect(await page.evaluate(cut)).toBe(0);
});

test.each(["light", "dark"] as const)("in %s all texts stand out from what is behind them", async (colorScheme) => {
  expect(await (await openReport(richRun(), { colorScheme })).evaluate(FAINT)).toEqual([]);
});
