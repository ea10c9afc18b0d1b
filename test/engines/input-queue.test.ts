import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { InputQueue } from "../../src/engines/claude/input-queue.ts";

async function collect(queue: InputQueue<string>): Promise<string[]> {
  const read: string[] = [];
  for await (const item of queue) read.push(item);
  return read;
}

test("what was pushed before anyone read comes first, in order", async () => {
  const queue = new InputQueue<string>();
  queue.push("a");
  queue.push("b");
  queue.end();
  expect(await collect(queue)).toEqual(["a", "b"]);
});

test("a reader that waits gets what is pushed later, and ends when the queue does", async () => {
  const queue = new InputQueue<string>();
  const reading = collect(queue);
  await setImmediate();
  queue.push("a");
  await setImmediate();
  queue.push("b");
  queue.push("c");
  await setImmediate();
  queue.end();
  expect(await reading).toEqual(["a", "b", "c"]);
});

test("a queue that was ended still gives what was pushed before", async () => {
  const queue = new InputQueue<string>();
  const reading = collect(queue);
  queue.push("a");
  queue.end();
  expect(await reading).toEqual(["a"]);
  expect(await collect(queue)).toEqual([]);
});
