import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Where Debian puts it, and what other systems call it. */
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

let shared: Promise<Browser> | undefined;

/**
 * The browser that all test files of this worker share: each test opens contexts of its own in it. It ends with the
 * worker's process.
 */
export function sharedBrowser(): Promise<Browser> {
  shared ??= openBrowser();
  return shared;
}

/** A real browser of the system, with nothing of this user's in it. `more`: of its own switches. */
export async function openBrowser(...more: readonly string[]): Promise<Browser & AsyncDisposable> {
  const executablePath = PLACES.find((path) => existsSync(path));
  if (executablePath === undefined) throw new Error("There is no Chromium here. On Debian: apt-get install chromium");
  // Root may not use the browser's own sandbox; the pages are ours.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", ...more] });
  return Object.assign(browser, { [Symbol.asyncDispose]: () => browser.close() });
}
