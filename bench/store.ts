import type { SessionEvent } from "../src/core/events/events.ts";
import { agent, temporaryDirectory } from "../test/support/host.ts";
import { interleave } from "./interleave.ts";
import { clock, ids, newSession, openStoreIn, pastTurn } from "./past-turns.ts";
import { type BenchCase, rateRow } from "./row.ts";

const name = "store";
const BATCH = 100;
/** One sample spans several batches, so that it also meets the moments when SQLite moves its log into the file. */
const BATCHES = 10;
const SINGLES = 10;

/** Every append is a commit that has reached the disk. */
export const storeAppends: BenchCase = {
  name,
  async run() {
    using directory = temporaryDirectory();
    await using store = await openStoreIn(directory.path);
    const { sessionId, fence } = await newSession(store, { agent: agent(), cwd: directory.path });
    let after = 0;
    const append = async (batches: readonly (readonly SessionEvent[])[]): Promise<number> => {
      const started = performance.now();
      for (const events of batches) {
        await store.append(sessionId, { after, events, fence });
        after += events.length;
      }
      return performance.now() - started;
    };
    const { batches, singles } = await interleave(
      { rounds: 60, warmUp: 3 },
      {
        batches: () => append(Array.from({ length: BATCHES }, () => pastEvents(BATCH))),
        singles: () => append(pastEvents(SINGLES).map((event) => [event])),
      },
    );
    return [
      rateRow({ name, what: `events appended in batches of ${BATCH}`, times: batches, batch: BATCH * BATCHES }, 20_000),
      rateRow({ name, what: "events appended one by one", times: singles, batch: SINGLES }),
    ];
  },
};

function pastEvents(count: number): SessionEvent[] {
  const drafts = Array.from({ length: count }, (_, turn) => pastTurn(turn)).flat();
  const processed_at = new Date(clock.now()).toISOString();
  return drafts.slice(0, count).map((draft) => ({ id: ids.next("sevt"), ...draft, processed_at }));
}
