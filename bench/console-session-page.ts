import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { type ConsoleBench, timeUntil } from "./console-browser.ts";
import { LAST_WORDS } from "./console-log.ts";
import { interleave } from "./interleave.ts";
import { countRow, ratioRow, type Row } from "./row.ts";

const ROUNDS = 12;
const SAYS = "[role=log] article";
/** The wheel's step in pixels, and the time between two steps in milliseconds. */
const STEP = 4_000;
const PACE_MS = 16;
/** After this many steps without a change, an end of the page is reached. */
const IDLE_STEPS = 40;

interface Sessions {
  readonly long: string;
  readonly short: string;
  /** The number of events in the long session. */
  readonly length: number;
}

/** How long it takes to open a long session, and how smoothly it scrolls from end to end. */
export async function sessionPage(name: string, bench: ConsoleBench, sessions: Sessions): Promise<readonly Row[]> {
  const open = (id: string) => async (): Promise<number> => {
    await using window = await bench.open();
    return await timeUntil(window.page, `${bench.server.url}/sessions/${id}`, SAYS, LAST_WORDS);
  };
  const { long, short } = await interleave(
    { rounds: ROUNDS, warmUp: 2 },
    { long: open(sessions.long), short: open(sessions.short) },
  );
  const { nodes, longest, pixels } = await scrollPage(bench, sessions.long);
  const size = sessions.length.toLocaleString("en");
  const way = `scrolling ${Math.round(pixels / 1_000).toLocaleString("en")},000 px to the beginning of ${size} events and back`;
  return [
    ratioRow(
      { name, what: `end of a session of ${size} events in sight : of 100`, measured: long, against: short },
      1.5,
    ),
    countRow({ name, what: `most DOM nodes while ${way}`, count: nodes }, 2_000),
    countRow({ name, what: `ms of the longest task meanwhile`, count: longest }, 200),
  ];
}

/** Records the number of nodes, including texts, in every frame, and how long the main thread was blocked. */
const OBSERVE = `() => {
  globalThis.seen = { nodes: 0, longest: 0 };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
  }).observe({ type: "longtask" });
  const count = () => {
    const walker = document.createTreeWalker(document);
    let nodes = 1;
    while (walker.nextNode() !== null) nodes += 1;
    seen.nodes = Math.max(seen.nodes, nodes);
    requestAnimationFrame(count);
  };
  requestAnimationFrame(count);
}`;

async function scrollPage(
  bench: ConsoleBench,
  id: string,
): Promise<{ readonly nodes: number; readonly longest: number; readonly pixels: number }> {
  await using window = await bench.open();
  const { page } = window;
  await timeUntil(page, `${bench.server.url}/sessions/${id}`, SAYS, LAST_WORDS);
  await page.evaluate(`(${OBSERVE})()`);
  await page.mouse.move(500, 400);
  await wheel(page, -STEP);
  const pixels = await page.evaluate<number>("document.querySelector('[role=log]').scrollHeight");
  await page.getByText("Please do thing number").first().waitFor();
  await wheel(page, STEP);
  await page.getByText(LAST_WORDS).waitFor();
  const seen = await page.evaluate<{ nodes: number; longest: number }>("seen");
  return { nodes: seen.nodes, longest: Math.round(seen.longest), pixels };
}

/** Scrolls until nothing moves and nothing more loads. */
async function wheel(page: Page, step: number): Promise<void> {
  let before = "";
  for (let idle = 0; idle < IDLE_STEPS;) {
    await page.mouse.wheel(0, step);
    await sleep(PACE_MS);
    const now = await page.evaluate<string>(
      "(({ scrollTop, scrollHeight }) => `${scrollTop} ${scrollHeight}`)(document.querySelector('[role=log]'))",
    );
    idle = now === before ? idle + 1 : 0;
    before = now;
  }
}
