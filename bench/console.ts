import { consoleBench } from "./console-browser.ts";
import { firstPage } from "./console-first-page.ts";
import { workedSession } from "./console-log.ts";
import { memory } from "./console-memory.ts";
import { sessionPage } from "./console-session-page.ts";
import { openStoreIn } from "./past-turns.ts";
import type { BenchCase, Row } from "./row.ts";

const name = "console";
const SESSIONS = 20;
const LONG = 20_000;
const SHORT = 100;

/** The console in a real browser. */
export const consoleSpeed: BenchCase = {
  name,
  async run() {
    return [...(await pages()), ...(await memory(name))];
  },
};

async function pages(): Promise<readonly Row[]> {
  await using bench = await consoleBench();
  const { home, cwd } = bench.server;
  const sessions: string[] = [];
  {
    await using store = await openStoreIn(home);
    for (let count = 0; count < SESSIONS; count += 1)
      sessions.push(await workedSession(store, cwd, count === 0 ? LONG : SHORT));
  }
  const [long = "", short = ""] = sessions;
  return [...(await firstPage(name, bench)), ...(await sessionPage(name, bench, { long, short, length: LONG }))];
}
