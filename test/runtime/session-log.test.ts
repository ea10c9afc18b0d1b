import { expect, test } from "vitest";
import { setTimeout as sleep } from "node:timers/promises";
import type { EventDraft } from "../../src/core/events/events.ts";
import { createRedactor } from "../../src/core/redaction/redaction.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { clock, ids } from "../../src/app/clock.ts";
import { Feed, type FeedItem } from "../../src/runtime/log/feed.ts";
import { SessionLog } from "../../src/runtime/log/session-log.ts";
import { feedScene } from "./feed-scene.ts";

const warned = (name: string): EventDraft => ({ type: "capstan.model_changed", model: name });

const name = (item: FeedItem): string => (item.type === "capstan.model_changed" ? item.model : item.type);

/** A log on a real store, with what it told and how often it wrote. `synced` stands before the store's own. */
async function scene(synced: () => Promise<void> = async () => {}) {
  const fixture = await feedScene();
  const { store } = fixture;
  const told: string[] = [];
  const writes: number[] = [];
  const watched: Store = {
    ...store,
    async append(sessionId, batch) {
      writes.push(batch.events.length);
      return store.append(sessionId, batch);
    },
    async sync() {
      await synced();
      await store.sync();
    },
  };
  const log = await SessionLog.open({
    store: watched,
    sessionId: "sesn_1",
    lease: { sessionId: "sesn_1", hostId: "host_a", fence: 1 },
    feed: new Feed((item) => told.push(name(item))),
    clock,
    ids,
    redactor: createRedactor(),
  });
  return { log, store, told, writes, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

test("what may wait is stored with the next append, in order, in one write", async () => {
  await using s = await scene();
  await s.log.appendSoon([warned("one")]);
  s.log.preview({ type: "capstan.event_withdrawn", event_id: "sevt_1" });
  await s.log.appendSoon([warned("two")]);
  expect([s.log.state.model, s.log.head, s.writes, s.told]).toEqual(["two", 2, [], []]);
  expect((await s.log.events()).map(({ seq }) => seq)).toEqual([1, 2]);
  const stored = await s.log.append((state) => [warned(`${state.model} and three`)]);
  expect(stored.map(({ seq }) => seq)).toEqual([3]);
  expect(s.told).toEqual(["one", "capstan.event_withdrawn", "two", "two and three"]);
  expect(s.writes).toEqual([3]);
});

test("what waits is stored soon, also when nothing follows or what follows takes its time", async () => {
  await using s = await scene();
  await s.log.appendSoon([warned("one")]);
  await expect.poll(() => s.told).toEqual(["one"]);
  await s.log.appendSoon([warned("two")]);
  const { promise, resolve } = Promise.withResolvers<readonly EventDraft[]>();
  const slow = s.log.append(() => promise);
  await expect.poll(() => s.told).toEqual(["one", "two"]);
  resolve([warned("three")]);
  await slow;
  expect(s.told).toEqual(["one", "two", "three"]);
});

test("nobody is told what the disk does not have, and an early append does not wait for it", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  await using s = await scene(() => promise);
  await s.log.append([warned("one")], { isEarly: true });
  s.log.preview({ type: "capstan.event_withdrawn", event_id: "sevt_1" });
  const appended = s.log.append([warned("two")]);
  await sleep(20);
  expect([s.told, await s.store.head("sesn_1"), s.log.state.model]).toEqual([[], 2, "two"]);
  resolve();
  await appended;
  expect(s.told).toEqual(["one", "capstan.event_withdrawn", "two"]);
});

test("whoever writes next is told that something could not be stored, and the state is as stored", async () => {
  await using s = await scene();
  await s.log.append([warned("one")]);
  // Another writer has the session by now.
  await s.store.leases.evict("sesn_1", "host_a");
  await s.log.appendSoon([warned("two")]);
  await expect.poll(() => s.writes).toEqual([1, 1]);
  await expect(s.log.append([])).rejects.toMatchObject({ code: "lease_lost" });
  expect([s.log.state.model, s.log.head, s.told]).toEqual(["one", 1, ["one"]]);
});

test("a disk that fails is told to whoever waits for it", async () => {
  await using s = await scene(() => Promise.reject(new Error("The disk is gone.")));
  await expect(s.log.append([warned("one")])).rejects.toThrow("The disk is gone.");
  expect(s.told).toEqual([]);
});
