import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "../../src/index.ts";
import { agent } from "../../test/support/host.ts";
import { benchHost } from "./model.ts";

/** The program that `memory.ts` measures. It prints its figures as one line of JSON. */

export interface MemoryFigures {
  readonly sessions: number;
  readonly active: number;
  readonly kilobytesEach: number;
  readonly shellKilobytesEach: number;
  readonly megabytes: number;
  readonly outOfOrder: number;
}

const SESSIONS = 1_000;
const ACTIVE = 100;
const SHELLS = 20;

await using fixture = await benchHost({ capacity: { max_turns: ACTIVE } });
const { host, cwd } = fixture;
const environment = { checkpoints: { mode: "off" as const } };
const worker = agent({ engine: "direct", tools: ["Bash"], permissions: { allow: ["Bash(export *)"] } });
let places = 0;

/** Each in a directory of its own: turns that work in the same one would wait for each other. */
function open(): Promise<Session> {
  const place = join(cwd, String((places += 1)));
  mkdirSync(place);
  return host.startSession({ agent: worker, cwd: place, environment });
}

await drive(await open(), "Hello");
const before = resident();
const sessions: Session[] = [];
for (let index = 0; index < SESSIONS; index += 1) {
  const session = await open();
  await drive(session, "Hello");
  sessions.push(session);
}
const opened = resident();
const shells = sessions.slice(0, SHELLS);
for (const session of shells) await drive(session, "Run a command");
const shelled = resident();
let highest = 0;
const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 100);
const orders = await Promise.all(sessions.slice(-ACTIVE).map((session) => drive(session, "Talk")));
clearInterval(watch);
const figures: MemoryFigures = {
  sessions: SESSIONS,
  active: ACTIVE,
  kilobytesEach: Math.round((opened - before) / SESSIONS / 1_000),
  shellKilobytesEach: Math.max(0, Math.round((shelled - opened) / SHELLS / 1_000)),
  megabytes: Math.round(highest / 1_000_000),
  outOfOrder: orders.filter((isOrdered) => !isOrdered).length,
};
console.log(JSON.stringify(figures));
await Promise.all(sessions.map((session) => session.close()));

/** Whether all events of the turn arrived in log order, without gaps. */
async function drive(session: Session, message: string): Promise<boolean> {
  const places: number[] = [];
  for await (const event of session.send(message)) if ("seq" in event) places.push(event.seq);
  return places.length > 0 && places.every((place, index) => index === 0 || place === (places[index - 1] ?? 0) + 1);
}

function resident(): number {
  globalThis.gc?.();
  return process.memoryUsage.rss();
}
