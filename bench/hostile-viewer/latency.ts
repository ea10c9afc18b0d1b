import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { agent } from "../../test/support/host.ts";
import { EVENT_EXAMPLES } from "../../test/support/event-examples.ts";
import { ids } from "../../src/app/clock.ts";
import { openStoreIn, pastSession } from "../past-turns.ts";
import { type BenchCase, ratioRow, type Row } from "../row.ts";
import { type Served, startServer } from "../serve-process.ts";
import type { Attack } from "./attack.ts";

const name = "hostile-viewer";
const LONG = 20_000;
const DECISIONS = 10_000;
const ROUNDS = 12;
const REQUESTS = 40;
const LIMIT = 3;

/** How long other clients wait for a response while a viewer sends everything a viewer may. */
export const hostileViewer: BenchCase = {
  name,
  async run() {
    await using server = await startServer();
    const session = await fill(server);
    const { url, apiKey } = server;
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const body = JSON.stringify({ name: "bench", role: "viewer" });
    const answer = await fetch(`${url}/api/keys`, { method: "POST", headers, body });
    const { key } = (await answer.json()) as { key: string };
    const rows: Row[] = [];
    for (const kind of ["bodies", "reads"] as const) rows.push(...(await compare(server, { url, key, session, kind })));
    return rows;
  },
};

async function compare(server: Served, given: Omit<Attack, "shared">): Promise<readonly Row[]> {
  const shared = new SharedArrayBuffer(8);
  const numbers = new Int32Array(shared);
  const worker = new Worker(new URL("./attack.ts", import.meta.url), { workerData: { ...given, shared } });
  await once(worker, "message");
  const quiet: number[] = [];
  const attacked: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      quiet.push(...(await latencies(server)));
      Atomics.store(numbers, 0, 1);
      Atomics.notify(numbers, 0);
      await sleep(300);
      attacked.push(...(await latencies(server)));
      Atomics.store(numbers, 0, 0);
      // Let requests in progress finish.
      await sleep(1_000);
    }
  } finally {
    await worker.terminate();
  }
  const sent = Atomics.load(numbers, 1);
  if (sent === 0) throw new Error("The viewer got no answer at all: this measures nothing.");
  const what = `another client's answer while a viewer sends ${given.kind === "bodies" ? "hostile bodies" : "heavy reads"} (${sent}) : without`;
  const slowest = { measured: slow(attacked), against: slow(quiet) };
  return [
    ratioRow({ name, what: `${what} (median)`, measured: attacked, against: quiet }, LIMIT),
    ratioRow({ name, what: `${what} (slowest tenth)`, ...slowest }, LIMIT),
  ];
}

/** The slowest tenth. */
function slow(times: readonly number[]): readonly number[] {
  return times.toSorted((a, b) => a - b).slice(Math.floor(times.length * 0.9));
}

/** Sequential requests, as from a person using the console. In milliseconds. */
async function latencies({ url, apiKey }: Served): Promise<readonly number[]> {
  const times: number[] = [];
  for (let count = 0; count < REQUESTS; count += 1) {
    const started = performance.now();
    await (await fetch(`${url}/api/sessions?limit=20`, { headers: { "x-api-key": apiKey } })).arrayBuffer();
    times.push(performance.now() - started);
  }
  return times;
}

/** Stores a long log, and decisions to replay rules on. Returns the id of the session with the long log. */
async function fill({ home, cwd }: Served): Promise<string> {
  await using store = await openStoreIn(home);
  const session = await pastSession(store, { length: LONG, agent: agent(), cwd });
  const { fence } = await store.leases.acquire(
    session,
    { hostId: "bench", pid: process.pid, hostname: "bench" },
    60_000,
  );
  let after = await store.head(session);
  for (let stored = 0; stored < DECISIONS; stored += 500) {
    const events = Array.from({ length: 500 }, () => ({
      ...EVENT_EXAMPLES["capstan.permission_decided"],
      id: ids.next("sevt"),
    }));
    await store.append(session, { after, events, fence });
    after += events.length;
  }
  return session;
}
