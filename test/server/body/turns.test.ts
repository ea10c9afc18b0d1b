import { setImmediate as look } from "node:timers/promises";
import { expect, test } from "vitest";
import { BodyQueue } from "../../../src/server/body/body-queue.ts";

/** What is done between two looks at all connections, for as many of them. */
async function doneIn(looks: number, done: readonly string[]): Promise<string[][]> {
  const all: string[][] = [];
  for (let seen = 0; all.length < looks; seen = done.length) {
    await look();
    all.push(done.slice(seen));
  }
  return all;
}

test("processes one chunk of a busy key at a time, with other keys in between", async () => {
  const turns = new BodyQueue();
  const done: string[] = [];
  const ask = async (key: string, piece: string): Promise<void> => {
    await turns.take(key);
    done.push(piece);
  };
  const asked = [ask("a", "a1"), ask("a", "a2"), ask("a", "a3"), ask("b", "b1"), ask("b", "b2")];
  const looks = await doneIn(8, done);
  await Promise.all(asked);
  expect(Math.max(...looks.map((pieces) => pieces.length))).toBe(1);
  expect(done).toEqual(["a1", "b1", "a2", "b2", "a3"]);
});

test("a later key does not wait for everything that others have sent", async () => {
  const turns = new BodyQueue();
  const done: string[] = [];
  const asked = Array.from({ length: 50 }, () => turns.take("a").then(() => done.push("a")));
  await look();
  await turns.take("b");
  expect(done.length).toBeLessThan(5);
  await Promise.all(asked);
  expect(done).toHaveLength(50);
});
