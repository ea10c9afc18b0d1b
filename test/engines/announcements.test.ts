import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Announcements } from "../../src/engines/claude/announcements.ts";

const never = new AbortController().signal;

/** Whether the promise is settled once everything that can happen by itself has happened. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.catch(() => {}).finally(() => (done = true));
  await setImmediate();
  return done;
}

describe("waiting for a call to be announced", () => {
  test("ends when it is", async () => {
    const announcements = new Announcements([]);
    const waiting = announcements.wait("a", never);
    announcements.announce("b");
    expect(await settled(waiting)).toBe(false);
    announcements.announce("a");
    await expect(waiting).resolves.toBeUndefined();
  });

  test("is not needed when it was before, or by an earlier process", async () => {
    const announcements = new Announcements(["old"]);
    announcements.announce("new");
    await expect(announcements.wait("old", never)).resolves.toBeUndefined();
    await expect(announcements.wait("new", never)).resolves.toBeUndefined();
  });

  test("holds each call for itself", async () => {
    const announcements = new Announcements([]);
    const [a, b] = [announcements.wait("a", never), announcements.wait("b", never)];
    announcements.announce("b");
    await expect(b).resolves.toBeUndefined();
    expect(await settled(a)).toBe(false);
  });

  test("is given up when the call is", async () => {
    const stop = new AbortController();
    const waiting = new Announcements([]).wait("a", stop.signal);
    stop.abort();
    await expect(waiting).rejects.toThrow("the call was given up");
  });

  // An abort that came before is never heard: the hook would hang for as long as a timer can run.
  test("is given up at once when the call already was", async () => {
    expect(await settled(new Announcements([]).wait("a", AbortSignal.abort()))).toBe(true);
  });

  // The second to wait takes the place of the first.
  test("ends for everyone who waits for the same call", async () => {
    const announcements = new Announcements([]);
    const waiting = [announcements.wait("a", never), announcements.wait("a", never)];
    announcements.announce("a");
    expect(await Promise.all(waiting.map(settled))).toEqual([true, true]);
  });
});
