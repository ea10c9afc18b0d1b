import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { type ConsoleBench, timeUntil } from "./console-browser.ts";
import { LAST_WORDS } from "./console-log.ts";
import { interleave } from "./interleave.ts";
import { countRow, ratioRow, type Row } from "./row.ts";

const ROUNDS = 12;
const SAYS = "[role=log] article";
/** Of the wheel: its step in pixels, and the time between two steps in milliseconds. */
const STEP = 4_000;
const PACE_MS = 16;
/** Steps that change nothing any more, after which an end of the page is reached. */
const IDLE_STEPS = 40;

interface Sessions {
  readonly long: string;
  readonly short: string;
  /** How many events the long one has. */
  readonly length: number;
}

/** What a person waits for who opens a long session, and how it feels to read all of it. */
export async function sessionPage(name: string, bench: ConsoleBench, sessions: Sessions): Promise<readonly Row[]> {
  const open = (id: string) => async (): Promise<number> => {
    await using window = await bench.open();
    return await timeUntil(window.page, `${bench.server.url}/sessions/${id}`, SAYS, LAST_WORDS);
  };
  const { long, short } = await interleave(
    { rounds: ROUNDS, warmUp: 2 },
    { long: open(sessions.long), short: open(sessions.short) },
  );
  const { nodes, longest, pixels } = await scrolled(bench, sessions.long);
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

/** Looks at every frame: how many nodes there are, texts among them, and how long the main thread was held. */
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

async function scrolled(
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

/** Turns the wheel until nothing moves any more, and nothing more is loaded. */
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
