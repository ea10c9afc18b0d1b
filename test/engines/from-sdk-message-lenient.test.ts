import * as fc from "fast-check";
import { expect, test } from "vitest";
import { translate } from "../../src/engines/claude/sdk/from-sdk-message.ts";
import { factsOf, type Message, RECORDINGS, steps, translator } from "./recordings.ts";

/**
 * Newer CLIs may leave out what this one says. The translator does without every field but these few, which make a
 * message what it is: `*` stands for a place in a list.
 */
const MAKES_UP: Readonly<Record<string, readonly string[]>> = {
  command_lifecycle: ["command_uuid"],
  assistant: ["message", "message.content", "message.content.*.name"],
  user: ["message", "message.content"],
  stream_event: ["event", "event.message", "event.content_block", "event.delta"],
  system: ["compact_metadata"],
  result: ["modelUsage", "errors"],
};

type Container = Record<string, unknown>;

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

/** Every field of a message that it may lack, as a path of keys. */
function fieldsOf(message: Message): string[][] {
  const within = (value: unknown, path: string[]): string[][] =>
    isContainer(value)
      ? Object.entries(value).flatMap(([key, inner]) => [[...path, key], ...within(inner, [...path, key])])
      : [];
  const needed = MAKES_UP[message.type] ?? [];
  return within(message, []).filter(
    (path) => !needed.includes(path.map((key) => (/^\d+$/.test(key) ? "*" : key)).join(".")),
  );
}

function without(message: Message, path: readonly string[]): Message {
  const copy = structuredClone(message);
  const parent = path
    .slice(0, -1)
    .reduce((value, key) => value?.[key] as Container | undefined, copy as unknown as Container | undefined);
  const key = path.at(-1) ?? "";
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent?.[key];
  return copy;
}

const everyStep = RECORDINGS.flatMap(({ messages }) => {
  const recorded = steps(messages);
  return recorded.map((step, index) => ({ ...step, rest: messages.slice(index + 1) }));
});

test("a message that lacks any one field is still translated, and so is what follows it", () => {
  for (const { message, before, rest } of everyStep)
    for (const path of fieldsOf(message)) {
      const go = (): unknown => factsOf(rest, translate(before, without(message, path)).state);
      expect(go, `${message.type} without ${path.join(".")}`).not.toThrow();
    }
});

test("a message that lacks several fields is still translated", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...everyStep).chain(({ message, before }) =>
        fc.record({
          message: fc.constant(message),
          before: fc.constant(before),
          paths: fc.shuffledSubarray(fieldsOf(message), { minLength: Math.min(1, fieldsOf(message).length) }),
        }),
      ),
      ({ message, before, paths }) => {
        expect(() => translate(before, paths.reduce(without, message))).not.toThrow();
      },
    ),
    { numRuns: 2_000 },
  );
});

// Without `parent_tool_use_id` the line is taken for that of a subagent named "undefined".
test("a message that does not say whose it is belongs to the primary line", () => {
  const text = everyStep.find(({ message }) => message.type === "assistant" && message.parent_tool_use_id === null);
  if (text === undefined) throw new Error("no message of the primary line was recorded");
  const { facts } = translate(translator(), without(text.message, ["parent_tool_use_id"]));
  expect(facts).toEqual(translate(translator(), text.message).facts);
});
