import { expect, test } from "vitest";
import type { LoggedEvent } from "../../src/core/events/events.ts";
import { FilteredLog } from "../../web/src/audit/log/filtered-log.ts";
import { gapBefore } from "../../web/src/audit/log/gaps.ts";
import type { Read } from "../../web/src/audit/log/log-reader.ts";
import { WholeLog } from "../../web/src/audit/log/whole-log.ts";
import { example } from "../support/event-examples.ts";

/** A log in which every so many events there is a message. */
function logOf(length: number, every: number): { read: Read; reads: (readonly [after: number, upTo: number])[] } {
  const reads: (readonly [number, number])[] = [];
  const read: Read = async (after, upTo) => {
    reads.push([after, upTo]);
    return Array.from({ length: Math.min(upTo, length) - after }, (_, index): LoggedEvent => {
      const seq = after + index + 1;
      return { ...(seq % every === 0 ? example("agent.message") : example("capstan.tool_progress")), seq };
    });
  };
  return { read, reads };
}

const isMessage = ({ type }: LoggedEvent): boolean => type === "agent.message";

test("the end of a long log is read without what is before it", async () => {
  const { read, reads } = logOf(20_000, 10);
  const log = new WholeLog(read, 20_000);
  expect(log.count).toBe(20_000);
  log.show(19_980, 19_999);
  await expect.poll(() => log.event(19_999)?.seq).toBe(20_000);
  expect(reads).toEqual([[19_800, 20_000]]);
  expect(log.event(0)).toBeUndefined();
  expect(log.indexOf(20_000)).toBe(19_999);
  expect(await log.next(20_000, 1)).toBeUndefined();
  expect(await log.edge(-1)).toBe(1);
});

test("a log that grows is read on from where it was", async () => {
  const { read, reads } = logOf(1_000, 10);
  const log = new WholeLog(read, 250);
  log.show(240, 249);
  await expect.poll(() => log.event(249)?.seq).toBe(250);
  log.grow(260);
  await expect.poll(() => log.event(259)?.seq).toBe(260);
  expect(reads).toEqual([
    [200, 250],
    [250, 260],
  ]);
});

test("who scrolls past does not wait for what they passed, and what was left long ago is forgotten", async () => {
  const { read, reads } = logOf(100_000, 10);
  const log = new WholeLog(read, 100_000);
  for (let at = 0; at < 100_000; at += 1_000) log.show(at, at + 20);
  await expect.poll(() => log.event(99_000)?.seq).toBe(99_001);
  expect(reads.length).toBeLessThan(5);
  for (let at = 0; at < 20_000; at += 200) {
    log.show(at, at + 20);
    await expect.poll(() => log.event(at)?.seq).toBe(at + 1);
  }
  expect(log.event(0)).toBeUndefined();
});

test("what could not be read is told, and read when asked again", async () => {
  let isBroken = true;
  const { read } = logOf(100, 10);
  const log = new WholeLog(async (after, upTo) => {
    if (isBroken) throw new Error("no server");
    return read(after, upTo);
  }, 100);
  log.show(0, 10);
  await expect.poll(() => (log.problem as Error | undefined)?.message).toBe("no server");
  isBroken = false;
  log.retry();
  await expect.poll(() => log.event(0)?.seq).toBe(1);
});

test("a filter looks from the chosen place on, both ways, only as far as somebody looks", async () => {
  const { read, reads } = logOf(20_000, 100);
  const log = new FilteredLog(read, 20_000, isMessage, 10_001);
  log.show(0, 0);
  await expect.poll(() => log.count).toBe(10);
  expect(log.event(0)?.seq).toBe(10_100);
  expect(log.looked).toMatchObject({ after: 10_000, upTo: 11_000 });
  for (const count of [20, 30]) {
    log.show(0, 12);
    await expect.poll(() => log.count).toBe(count);
  }
  // Enough below: now what is above.
  log.show(0, 9);
  await expect.poll(() => log.prepended).toBe(10);
  expect(log.event(0)?.seq).toBe(9_100);
  expect(log.indexOf(10_150)).toBe(10);
  expect(reads.length).toBe(4);
});

test("steps and ends of a filter are found however far away they are", async () => {
  const { read } = logOf(20_000, 7_000);
  const log = new FilteredLog(read, 20_000, isMessage, 100);
  expect(await log.next(100, 1)).toBe(7_000);
  expect(await log.next(7_000, 1)).toBe(14_000);
  expect(await log.next(14_000, 1)).toBeUndefined();
  expect(await log.next(7_000, -1)).toBeUndefined();
  expect(log.looked).toBeUndefined();
  const other = new FilteredLog(read, 20_000, isMessage, 10_000);
  expect(await other.edge(-1)).toBe(7_000);
  expect(await other.edge(1)).toBe(14_000);
  other.seek(100);
  expect(await other.next(100, 1)).toBe(7_000);
});

test("a filter that finds nothing pauses, and goes on when asked", async () => {
  const { read, reads } = logOf(100_000, 1_000_000);
  const log = new FilteredLog(read, 100_000, isMessage, 1);
  const lookAll = (): void => {
    log.subscribe(() => queueMicrotask(() => log.show(0, 0)));
    log.show(0, 0);
  };
  lookAll();
  await expect.poll(() => log.looked?.isPaused).toBe(true);
  expect(reads.length).toBe(20);
  log.lookFurther();
  await expect.poll(() => log.looked?.upTo).toBe(40_000);
});

function at(processed_at: string | null): LoggedEvent {
  return { ...example("user.message"), processed_at, seq: 1 };
}

test("the time between events passes over those without one, and is never negative", () => {
  const events = [
    at("2026-01-02T03:04:05.000Z"),
    at(null),
    at("2026-01-02T03:04:06.500Z"),
    at("2026-01-02T03:04:01.000Z"),
  ];
  const gaps = events.map((_, index) => gapBefore({ event: (row) => events[row] }, index));
  expect(gaps).toEqual([undefined, undefined, 1_500, 0]);
});
