import { join } from "node:path";
import type { SessionEvent, StoredEvent } from "../../src/core/events/events.ts";
import { Feed, type FeedItem } from "../../src/runtime/log/feed.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { sampleMessage, sampleOwner, sampleSession } from "../store/samples.ts";
import { temporaryDirectory } from "../support/host.ts";

/** A session's log, a feed, and somebody who follows it from the start, as slowly as they like. */
export async function feedScene(isLive: () => boolean = () => true) {
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
  const follow = (after = 0): AsyncGenerator<FeedItem> =>
    feed.subscribe(store, { sessionId: "sesn_1", after, signal: stop.signal, live: isLive });
  const items = follow();
  const keep = async (events: readonly SessionEvent[]): Promise<readonly StoredEvent[]> =>
    store.append("sesn_1", { after: await store.head("sesn_1"), events, fence });
  const append = async (count: number): Promise<readonly StoredEvent[]> => {
    const after = await store.head("sesn_1");
    return keep(Array.from({ length: count }, (_, index) => sampleMessage(`message ${after + index}`)));
  };
  const parts = stack.move();
  return { store, feed, items, follow, keep, append, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
