import { join } from "node:path";
import { expect, test } from "vitest";
import type { StoredEvent } from "../../src/core/events.ts";
import { Feed, type FeedItem, logged } from "../../src/runtime/feed.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { sampleMessage, sampleOwner, sampleSession } from "../store/samples.ts";
import { temporaryDirectory } from "../support/host.ts";
import { until } from "../support/until.ts";

/** A session's log, a feed, and somebody who follows it from the start, as slowly as they like. */
async function scene(isLive: () => boolean = () => true) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const store = stack.use(
    await openSqliteStore({ path: join(directory.path, "capstan.db"), clock: { now: () => Date.now() } }),
  );
  await store.createSession(sampleSession("sesn_1"));
  const { fence } = await store.leases.acquire("sesn_1", sampleOwner("host_a"), 60_000);
  const feed = new Feed();
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  const items = feed.subscribe(store, { sessionId: "sesn_1", after: 0, signal: stop.signal, live: isLive });
  const append = async (count: number): Promise<readonly StoredEvent[]> => {
    const after = await store.head("sesn_1");
    const events = Array.from({ length: count }, (_, index) => sampleMessage(`message ${after + index}`));
    return store.append("sesn_1", { after, events, fence });
  };
  const parts = stack.move();
  return { feed, items, append, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const placeOf = (item: FeedItem | undefined): number => (item !== undefined && "seq" in item ? item.seq : 0);

test("a reader that falls far behind is told everything all the same, in order", async () => {
  await using s = await scene();
  for (const event of await s.append(2)) s.feed.publish(logged(event));
  const seen = [placeOf((await s.items.next()).value)];
  // More than may wait, while nobody reads.
  for (const event of await s.append(1_500)) s.feed.publish(logged(event));
  while (seen.length < 1_502) seen.push(placeOf((await s.items.next()).value));
  expect(seen).toEqual(Array.from({ length: 1_502 }, (_, index) => index + 1));
});

test("what another process wrote just before this host took over is not left out", async () => {
  let isLive = false;
  await using s = await scene(() => isLive);
  await s.append(1);
  const seen = [placeOf((await s.items.next()).value)];
  const next = s.items.next();
  await s.append(2);
  isLive = true;
  for (const event of await s.append(1)) s.feed.publish(logged(event));
  seen.push(placeOf((await next).value));
  await until(
    async () => seen.push(placeOf((await s.items.next()).value)),
    () => seen.at(-1) === 4,
  );
  expect(seen).toEqual([1, 2, 3, 4]);
});
