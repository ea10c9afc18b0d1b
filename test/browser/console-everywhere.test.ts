import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isTooWide, seriousBarriers } from "../support/barriers.ts";
import { type Console, openConsole } from "../support/console.ts";
import { storyScript } from "../support/console-story.ts";
import { fillWorld, pagesOf, type World, WORLD_SETTINGS } from "../support/console-world.ts";

let console: Console;
let world: World;
beforeAll(async () => {
  console = await openConsole({ script: storyScript, settings: WORLD_SETTINGS });
  world = await fillWorld(console);
});
afterAll(() => console[Symbol.asyncDispose]());

/** Opens a page, and waits until it has what it shows. */
async function open(path: string): Promise<Page> {
  const { page, url } = console;
  await page.goto(url + path);
  await page.locator("main :is(h1, h2)").first().waitFor();
  await expect.poll(() => page.getByText(/^(Loading|Connecting)…$/).count()).toBe(0);
  return page;
}

test.for([
  { width: 1_280, height: 800, theme: "light" },
  { width: 360, height: 740, theme: "dark" },
] as const)("no page keeps anybody out, nor is too wide, at $width pixels, $theme", async ({ theme, ...size }) => {
  const { page, complaints } = console;
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize(size);
  const found: Record<string, unknown> = {};
  for (const [name, path] of Object.entries(pagesOf(world))) {
    await open(path);
    const barriers = await seriousBarriers(page);
    const wide = await isTooWide(page);
    if (barriers.length > 0 || wide) found[name] = { barriers, wide };
  }
  expect(found).toEqual({});
  expect(complaints).toEqual([]);
});

/** Everything on the page that a pointer can use, by a number that is written on it. */
const NUMBER_ALL = `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  // A list of tabs gives the focus on to the one that is open.
  .filter((element) => !element.disabled && element.role !== "tablist" && element.tabIndex >= 0 && element.checkVisibility({ visibilityProperty: true })
    // Of a group of radio buttons the keyboard has one, and the arrows have the others.
    && !(element.type === "radio" && !element.checked && [...document.getElementsByName(element.name)].findIndex((one) => one.checked) >= 0)
    && !(element.type === "radio" && ![...document.getElementsByName(element.name)].some((one) => one.checked) && document.getElementsByName(element.name)[0] !== element))
  .map((element, index) => { element.dataset.number = index; return index; })`;

test("everything that can be used is reached with the Tab key, on every page", async () => {
  const { page } = console;
  await page.setViewportSize({ width: 1_280, height: 800 });
  const missed: Record<string, unknown> = {};
  for (const [name, path] of Object.entries(pagesOf(world))) {
    await open(path);
    await page.evaluate("document.activeElement?.blur()");
    const wanted = new Set(await page.evaluate<number[]>(NUMBER_ALL));
    for (let presses = 0; wanted.size > 0 && presses < 250; presses += 1) {
      await page.keyboard.press("Tab");
      wanted.delete(await page.evaluate<number>("Number(document.activeElement?.dataset.number ?? -1)"));
    }
    const left = await page.evaluate<string[]>(
      `${JSON.stringify([...wanted])}.map((number) => document.querySelector("[data-number='" + number + "']")?.outerHTML.slice(0, 200))`,
    );
    if (left.length > 0) missed[name] = left;
  }
  expect(missed).toEqual({});
});
