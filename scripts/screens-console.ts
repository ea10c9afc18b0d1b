// Takes pictures of every page of the console, in light and in dark, and on a phone, in a real Chromium before a real
// server; only the model is scripted. To the directory that is named; default: docs/console.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { openConsole } from "../test/support/console.ts";
import { storyScript } from "../test/support/console-story.ts";
import { fillWorld, pagesOf, WORLD_SETTINGS } from "../test/support/console-world.ts";

const root = resolve(import.meta.dirname, "..");
const [out = join(root, "docs", "console"), ...names] = process.argv.slice(2);
/** In milliseconds: what a page needs until its charts are drawn and its code is marked. */
const SETTLED_MS = 1_200;
const LOOKS = [
  { look: "light", theme: "light", width: 1_360, height: 850 },
  { look: "dark", theme: "dark", width: 1_360, height: 850 },
  { look: "phone", theme: "dark", width: 360, height: 740 },
] as const;

mkdirSync(out, { recursive: true });
await using console_ = await openConsole({ script: storyScript, settings: WORLD_SETTINGS });
const { page, url, complaints } = console_;
const world = await fillWorld(console_);
for (const { look, theme, width, height } of LOOKS) {
  await page.emulateMedia({ colorScheme: theme });
  await page.setViewportSize({ width, height });
  for (const [name, path] of Object.entries(pagesOf(world))) {
    if (names.length > 0 && !names.includes(`${name}-${look}`)) continue;
    await page.goto(url + path);
    await page.waitForTimeout(SETTLED_MS);
    await page.screenshot({ path: join(out, `${name}-${look}.png`) });
  }
}
if (complaints.length > 0) throw new Error(`The pages complained: ${complaints.join("\n")}`);
console.log(`The pictures are in ${out}.`);
