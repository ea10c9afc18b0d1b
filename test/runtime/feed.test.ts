import { expect, test } from "vitest";
import { type FeedItem, toLoggedEvent } from "../../src/runtime/log/feed.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { sampleMessage } from "../store/samples.ts";
import { untilCollected } from "../support/until-collected.ts";
import { until } from "../support/until.ts";
import { feedScene } from "./feed-scene.ts";

const placeOf = (item: FeedItem | undefined): number => (item !== undefined && "seq" in item ? item.seq : 0);

test("a reader that falls far behind is told everything all the same, in order", async () => {
  await using s = await feedScene();
  for (const event of await s.append(2)) s.feed.publish(toLoggedEvent(event));
  const seen = [placeOf((await s.items.next()).value)];
  // More than may wait, while nobody reads.
  for (const event of await s.append(1_500)) s.feed.publish(toLoggedEvent(event));
  while (seen.length < 1_502) seen.push(placeOf((await s.items.next()).value));
  expect(seen).toEqual(Array.from({ length: 1_502 }, (_, index) => index + 1));
});

test("what another process wrote just before this host took over is not left out", async () => {
  let isLive = false;
  await using s = await feedScene(() => isLive);
  await s.append(1);
  const seen = [placeOf((await s.items.next()).value)];
  const next = s.items.next();
  await s.append(2);
  isLive = true;
  for (const event of await s.append(1)) s.feed.publish(toLoggedEvent(event));
  seen.push(placeOf((await next).value));
  await until(
    async () => seen.push(placeOf((await s.items.next()).value)),
    () => seen.at(-1) === 4,
  );
  expect(seen).toEqual([1, 2, 3, 4]);
});

/** Events of a hundred kilobytes. */
const large = (count: number): ReturnType<typeof sampleMessage>[] =>
  Array.from({ length: count }, (_, index) => sampleMessage(`${index}`.padEnd(100_000, "x")));

test("a reader that does not read keeps little of what is said, and is told all of it later", async () => {
  await using s = await feedScene();
  await s.append(1);
  const seen = [placeOf((await s.items.next()).value)];
  // It waits for more, as one does who has read everything.
  const next = s.items.next();
  const said: WeakRef<object>[] = [];
  for (const event of await s.keep(large(60))) {
    const item = toLoggedEvent(event);
    said.push(new WeakRef(item));
    s.feed.publish(item);
  }
  seen.push(placeOf((await next).value));
  // Six megabytes were said; one may wait.
  await untilCollected(said, 12);
  while (seen.length < 61) seen.push(placeOf((await s.items.next()).value));
  expect(seen).toEqual(Array.from({ length: 61 }, (_, index) => index + 1));
});

test("a reader that stops in the middle of the log keeps nothing of the page that was read for it", async () => {
  await using s = await feedScene();
  await s.keep(large(60));
  const read: WeakRef<object>[] = [];
  const store: Store = Object.create(s.store, {
    events: {
      value: async (...given: Parameters<Store["events"]>) => {
        const page = await s.store.events(...given);
        read.push(...page.map((event) => new WeakRef(event)));
        return page;
      },
    },
  });
  const { signal } = new AbortController();
  const items = s.feed.subscribe(store, { sessionId: "sesn_1", after: 0, signal, live: () => true });
  const seen = [placeOf((await items.next()).value)];
  expect(read).toHaveLength(16);
  await untilCollected(read, 1);
  while (seen.length < 60) seen.push(placeOf((await items.next()).value));
  expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  await items.return(undefined);
});
