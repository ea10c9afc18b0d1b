import { describe, expect, test } from "vitest";
import { Admission, type Capacity } from "../../src/runtime/engine/admission.ts";
import { Processes } from "../../src/runtime/engine/processes.ts";
import { until } from "../support/until.ts";

const admission = (capacity: Partial<Capacity> = {}): Admission =>
  new Admission({ maxTurns: 2, maxQueue: 3, hasRoom: () => true, ...capacity });
const wanted = (): boolean => false;

describe("admission", () => {
  test("lets in as many turns as fit, and the next when one is over", async () => {
    const place = admission();
    const first = await place.enter("a", wanted);
    await place.enter("a", wanted);
    const third = place.enter("a", wanted);
    expect([place.running, place.waiting]).toEqual([2, 1]);
    first?.();
    await third;
    expect([place.running, place.waiting]).toEqual([2, 0]);
  });

  test("gives a place back once, however often it is told to", async () => {
    const place = admission();
    const leave = await place.enter("a", wanted);
    leave?.();
    leave?.();
    expect(place.running).toBe(0);
  });

  test("serves projects in turn: one that asks for many keeps no other waiting", async () => {
    const place = admission({ maxTurns: 1, maxQueue: 10 });
    const seen: string[] = [];
    // Each leaves as soon as it is in, which lets the next one in.
    const pass = async (project: string): Promise<void> => {
      const leave = await place.enter(project, wanted);
      seen.push(project);
      leave?.();
    };
    const held = await place.enter("busy", wanted);
    const all = ["busy", "busy", "busy", "small", "other"].map(pass);
    held?.();
    await Promise.all(all);
    expect(seen).toEqual(["busy", "small", "other", "busy", "busy"]);
  });

  test("refuses with too_many, and when to come back, once even the queue is full", async () => {
    const place = admission({ maxTurns: 1, maxQueue: 1 });
    await place.enter("a", wanted);
    expect(() => place.requireRoom()).not.toThrow();
    void place.enter("a", wanted);
    expect(() => place.requireRoom()).toThrow(
      expect.objectContaining({ code: "too_many", data: { retryAfterSeconds: expect.any(Number) }, retryable: true }),
    );
  });

  test("waits while the machine is full, but always takes on one turn", async () => {
    let isFull = true;
    const place = admission({ hasRoom: () => !isFull });
    await place.enter("a", wanted);
    let isIn = false;
    void place.enter("a", wanted).then(() => (isIn = true));
    await Promise.resolve();
    expect([isIn, place.waiting, place.hasRoomToWarm]).toEqual([false, 1, false]);
    isFull = false;
    await until(
      () => isIn,
      (value) => value,
    );
    expect(place.running).toBe(2);
  });

  test("lets go of a turn that is not wanted any more", async () => {
    const place = admission({ maxTurns: 1 });
    await place.enter("a", wanted);
    let isStopped = false;
    const entering = place.enter("a", () => isStopped);
    isStopped = true;
    expect(await entering).toBeUndefined();
    expect([place.running, place.waiting]).toEqual([1, 0]);
  });
});

/** Two may wait, a hundred milliseconds old at most, with a thousand bytes each. */
function pool(memory: Record<number, number> = {}) {
  const ended: number[] = [];
  let now = 0;
  const processes = new Processes({
    ceilings: { maxIdle: 2, maxAgeMs: 100, maxBytes: 1_000 },
    now: () => now,
    memoryOf: (pids) => new Map(pids.map((pid) => [pid, memory[pid] ?? 0])),
  });
  const start = (pid: number) => {
    const made = { pid, startedAt: now, rest: () => ended.push(pid) };
    processes.works(made);
    return made;
  };
  return { processes, ended, start, later: (ms: number) => (now += ms) };
}

describe("agent processes", () => {
  test("wait for a message only up to a number; the one that has waited longest is ended first", () => {
    const { processes, ended, start } = pool();
    const [one, two, three] = [start(1), start(2), start(3)];
    processes.waits(one);
    processes.waits(two);
    expect(processes.hasRoomToWarm).toBe(true);
    processes.works(one);
    processes.waits(one);
    processes.waits(three);
    expect(ended).toEqual([2]);
    expect(processes.idle).toBe(2);
  });

  test("are ended when they are old or hold much memory, and never while they work", () => {
    const { processes, ended, start, later } = pool({ 1: 50, 2: 5_000, 3: 50 });
    const [lean, fat, working] = [start(1), start(2), start(3)];
    processes.waits(lean);
    processes.waits(fat);
    processes.recycle();
    expect(ended).toEqual([2]);
    later(101);
    processes.recycle();
    expect(ended).toEqual([2, 1]);
    expect(processes.count).toBe(3);
    for (const process of [lean, fat, working]) processes.remove(process);
    expect([processes.count, processes.idle, processes.bytes]).toEqual([0, 0, 0]);
  });
});
