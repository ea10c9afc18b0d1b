import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Script } from "../test/support/scripted-model.ts";
import { openBrowser } from "../test/support/browser.ts";
import { type Served, startServer } from "./serve-process.ts";

const SIZE = { width: 1_280, height: 800 };

export interface ConsoleBench extends AsyncDisposable {
  readonly server: Served;
  /** A logged-in window with an empty cache. */
  open(): Promise<Window>;
}

export interface Window extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
}

/** The server in a separate process, and a real browser. */
export async function consoleBench(script?: Script): Promise<ConsoleBench> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startServer({ fromSource: true, ...(script !== undefined && { script }) }));
  const browser = stack.use(await openBrowser());
  const storageState = await login(browser, server);
  const parts = stack.move();
  return {
    server,
    async open() {
      const context = await browser.newContext({ viewport: SIZE, storageState });
      const page = await context.newPage();
      return { page, context, [Symbol.asyncDispose]: () => context.close() };
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function login(
  browser: Browser,
  { url, apiKey }: Served,
): Promise<Awaited<ReturnType<BrowserContext["storageState"]>>> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/login`);
  await page.getByLabel("Key").fill(apiKey);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(`${url}/`);
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Runs before the page's own scripts: reports when the expected element is in view and painted. */
const WATCH = `(wanted, words) => {
  const isInSight = (element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return bottom > 0 && top < innerHeight && element.textContent.includes(words);
  };
  const look = () => {
    if (![...document.querySelectorAll(wanted)].some(isInSight)) return void requestAnimationFrame(look);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => (globalThis.paintedAt = performance.now());
    port2.postMessage(undefined);
  };
  requestAnimationFrame(look);
}`;

/**
 * Milliseconds from the start of the navigation until `selector`, with `text` in it, is in view and painted,
 * by the page's own clock. Until then the main thread was busy; from then on the page responds.
 */
export async function timeUntil(page: Page, url: string, selector: string, text = ""): Promise<number> {
  await page.addInitScript(`(${WATCH})(${JSON.stringify(selector)}, ${JSON.stringify(text)})`);
  await page.goto(url, { waitUntil: "commit" });
  const handle = await page.waitForFunction(() => Reflect.get(globalThis, "paintedAt") as unknown, undefined, {
    polling: 50,
  });
  return Number(await handle.jsonValue());
}
