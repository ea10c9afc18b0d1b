import { expect, test } from "vitest";
import { type FeedItem, logged } from "../../src/runtime/feed.ts";
import { until } from "../support/until.ts";
import { feedScene } from "./feed-scene.ts";

const placeOf = (item: FeedItem | undefined): number => (item !== undefined && "seq" in item ? item.seq : 0);

test("a reader that falls far behind is told everything all the same, in order", async () => {
  await using s = await feedScene();
  for (const event of await s.append(2)) s.feed.publish(logged(event));
  const seen = [placeOf((await s.items.next()).value)];
  // More than may wait, while nobody reads.
  for (const event of await s.append(1_500)) s.feed.publish(logged(event));
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
  for (const event of await s.append(1)) s.feed.publish(logged(event));
  seen.push(placeOf((await next).value));
  await until(
    async () => seen.push(placeOf((await s.items.next()).value)),
    () => seen.at(-1) === 4,
  );
  expect(seen).toEqual([1, 2, 3, 4]);
});
