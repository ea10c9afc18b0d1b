import { join } from "node:path";
import { expect, test } from "vitest";
import { clock } from "../../src/app/clock.ts";
import type { LeaseOwner, Store } from "../../src/core/ports/store.ts";
import { abandonedSessions } from "../../src/runtime/recovery/abandoned-sessions.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { MINUTE, sampleOwner, sampleSession } from "../store/samples.ts";
import { temporaryDirectory } from "../store/temporary.ts";
import { EVENT_EXAMPLES } from "../support/event-examples.ts";

/** The store, and how often anything of it is called. */
function countCalls<Part extends object>(part: Part, calls: { count: number }): Part {
  return new Proxy(part, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value === "object" && value !== null) return countCalls(value, calls);
      if (typeof value !== "function") return value;
      return (...given: unknown[]): unknown => {
        calls.count += 1;
        return Reflect.apply(value, target, given);
      };
    },
  });
}

async function run(store: Store, id: string, host: string): Promise<void> {
  await store.createSession(sampleSession(id));
  const { fence } = await store.leases.acquire(id, sampleOwner(host), MINUTE);
  await store.append(id, { after: 0, events: [EVENT_EXAMPLES["session.status_running"]], fence });
}

test("to look for abandoned sessions takes one call of the store, however many are at work", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock });
  const calls = { count: 0 };
  const asked: string[] = [];
  const isGone = ({ hostId }: LeaseOwner): boolean => asked.push(hostId) > 0 && hostId === "host_gone";
  const look = (): Promise<readonly string[]> => abandonedSessions(countCalls(store, calls), isGone, clock.now());
  expect([await look(), calls.count]).toEqual([[], 1]);
  for (let index = 0; index < 20; index += 1) await run(store, `sesn_${index}`, "host_here");
  await run(store, "sesn_left", "host_gone");
  calls.count = 0;
  expect([await look(), calls.count]).toEqual([["sesn_left"], 1]);
  // Each host is looked for once.
  expect(asked.toSorted()).toEqual(["host_gone", "host_here"]);
});
