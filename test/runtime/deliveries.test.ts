import { expect, test } from "vitest";
import type { MessageContent } from "../../src/core/events/content.ts";
import { Deliveries } from "../../src/runtime/engine/deliveries.ts";

const text = (value: string): MessageContent => [{ type: "text", text: value }];
const MAIN = { engineAgentId: undefined, requestClass: "main" };

/** What is recorded as delivered when these things happen in this order. */
async function deliveredAfter(
  content: MessageContent,
  ...steps: readonly (readonly [said: string, more?: Partial<typeof MAIN> | { engineAgentId: string }] | "taken")[]
): Promise<readonly string[]> {
  const delivered: string[] = [];
  const deliveries = new Deliveries(async (ids) => void delivered.push(...ids));
  deliveries.give({ eventId: "sevt_1", content });
  for (const step of steps)
    await (step === "taken"
      ? deliveries.markTaken(["sevt_1"])
      : deliveries.markRequested({ ...MAIN, ...step[1], said: step[0] }));
  return delivered;
}

test("a message is delivered when the process has taken it and a request holds it, in either order, once", async () => {
  const hello = text("Hello there");
  expect(await deliveredAfter(hello, "taken", ["Hello there"])).toEqual(["sevt_1"]);
  expect(await deliveredAfter(hello, ["Hello there"], "taken")).toEqual(["sevt_1"]);
  expect(await deliveredAfter(hello, "taken", ["Hello there"], ["Hello there"], "taken")).toEqual(["sevt_1"]);
});

test("a message that was taken, and that no request holds, is not delivered", async () => {
  const hello = text("Hello there");
  expect(await deliveredAfter(hello, "taken")).toEqual([]);
  expect(await deliveredAfter(hello, "taken", ["Continue from where you left off."])).toEqual([]);
  expect(await deliveredAfter(hello, ["Hello there"])).toEqual([]);
});

test("requests of subagents, and of tools for themselves, deliver nothing; a compaction does", async () => {
  const hello = text("Hello there");
  expect(await deliveredAfter(hello, "taken", ["Hello there", { engineAgentId: "a1" }])).toEqual([]);
  expect(await deliveredAfter(hello, "taken", ["Hello there", { requestClass: "auxiliary" }])).toEqual([]);
  expect(await deliveredAfter(hello, "taken", ["Hello there", { requestClass: "compaction" }])).toEqual(["sevt_1"]);
});

test.each<[string, MessageContent, string]>([
  ["trimmed", text("  Hello \r\n\t there  "), "The user said:\nHello \r\n\t there"],
  ["composed differently", text("cafe\u0301"), "caf\u00E9"],
  ["shortened", text("word ".repeat(5_000)), "word ".repeat(500)],
  ["an image", [{ type: "image", source: { type: "url", url: "https://example.org/a.png" } }], "[Image]"],
  ["without any word", text("?!"), "?!"],
  ["in several parts", [...text("first"), ...text("second")], "first\nsecond"],
])("a message is recognised in a request: %s", async (_what, content, said) => {
  expect(await deliveredAfter(content, "taken", [said])).toEqual(["sevt_1"]);
});

test("a message of which a part is missing is not delivered", async () => {
  expect(await deliveredAfter([...text("first"), ...text("second")], "taken", ["first"])).toEqual([]);
});
