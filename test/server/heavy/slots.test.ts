import { expect, test } from "vitest";
import { HeavySlots } from "../../../src/server/heavy/slots.ts";

interface Work {
  readonly done: Promise<string>;
  readonly finish: () => void;
  readonly isRunning: () => boolean;
}

/** Work that runs until it is told to finish. */
function work(slots: HeavySlots, key: string, signal = new AbortController().signal): Work {
  const end = Promise.withResolvers<string>();
  let isRunning = false;
  const done = slots.run({ key, signal }, () => {
    isRunning = true;
    return end.promise;
  });
  // Whoever looks at it sees that it failed.
  done.catch(() => {});
  return { done, finish: () => end.resolve(key), isRunning: () => isRunning };
}

/** Lets everything run that can. */
const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

test("a key runs one job at a time, and others do not wait for it", async () => {
  const slots = new HeavySlots({ running: 2 });
  const first = work(slots, "a");
  const second = work(slots, "a");
  const other = work(slots, "b");
  const third = work(slots, "c");
  await settle();
  expect([first, second, other, third].map((one) => one.isRunning())).toEqual([true, false, true, false]);
  other.finish();
  await other.done;
  await settle();
  // The second of the first key came earlier, but its key has its turn already.
  expect([second, third].map((one) => one.isRunning())).toEqual([false, true]);
  first.finish();
  await settle();
  expect(second.isRunning()).toBe(true);
  second.finish();
  third.finish();
  expect(await Promise.all([first.done, second.done, third.done])).toEqual(["a", "a", "c"]);
});

test("disconnecting frees the slot, and so does a failure", async () => {
  const slots = new HeavySlots({ running: 1 });
  const gone = new AbortController();
  const first = work(slots, "a");
  const leaving = work(slots, "b", gone.signal);
  const next = work(slots, "c");
  gone.abort(new Error("left"));
  await expect(leaving.done).rejects.toThrow("left");
  first.finish();
  await settle();
  expect([leaving.isRunning(), next.isRunning()]).toEqual([false, true]);
  next.finish();
  await next.done;
  await expect(slots.run({ key: "a", signal: gone.signal }, async () => "never")).rejects.toThrow("left");
  const { signal } = new AbortController();
  await expect(slots.run({ key: "a", signal }, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
  expect(await slots.run({ key: "a", signal }, async () => "again")).toBe("again");
});

test("rejects work when too much is waiting, and says when to retry", async () => {
  const slots = new HeavySlots({ running: 1, waitingPerKey: 1, waiting: 2 });
  const first = work(slots, "a");
  const second = work(slots, "a");
  const refused = { status: 429, type: "rate_limit_error", retryAfter: 5 };
  await expect(work(slots, "a").done).rejects.toMatchObject(refused);
  const other = work(slots, "b");
  await expect(work(slots, "c").done).rejects.toMatchObject(refused);
  for (const one of [first, second, other]) one.finish();
  await Promise.all([first.done, second.done, other.done]);
});
