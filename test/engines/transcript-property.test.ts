import * as fc from "fast-check";
import { expect, test } from "vitest";
import { uuidOf } from "../../src/core/ports/clock.ts";
import type { HistoryItem, ModelBlock } from "../../src/core/session/history.ts";
import { agree, endOf, expectRebuilt, keptOf } from "./transcript-checks.ts";

/** A random conversation; ids and texts are made unique by their place, as those of a real one are. */
type Turn = { readonly question: string } | { readonly answer: readonly Part[] };
type Part =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | {
      readonly kind: "call";
      readonly input: Record<string, string>;
      readonly result: string | undefined;
      readonly isError: boolean;
    };

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ kind: fc.constant("text" as const), text: fc.string() }),
  fc.record({ kind: fc.constant("thinking" as const), text: fc.string() }),
  fc.record({
    kind: fc.constant("call" as const),
    input: fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
    result: fc.option(fc.string(), { nil: undefined }),
    isError: fc.boolean(),
  }),
);
/** An answer of nothing but thinking is in transcript-bugs.test.ts. */
const answer = fc
  .array(part, { minLength: 1, maxLength: 4 })
  .filter((parts) => parts.some(({ kind }) => kind !== "thinking"));
const turn: fc.Arbitrary<Turn> = fc.oneof(fc.record({ question: fc.string() }), fc.record({ answer }));

const histories: fc.Arbitrary<readonly HistoryItem[]> = fc
  .record({
    summary: fc.option(fc.string(), { nil: undefined }),
    turns: fc.array(turn, { minLength: 1, maxLength: 8 }),
  })
  .map(({ summary, turns }) => [
    ...(summary === undefined ? [] : [{ kind: "summary" as const, text: summary, kept: [] }]),
    ...turns.map(itemOf),
  ]);

function itemOf(turn: Turn, index: number): HistoryItem {
  if ("question" in turn) {
    const eventId = `sevt_0190aaaabbbb7cccdddd${index.toString(16).padStart(12, "0")}`;
    return { kind: "user", eventId, content: [{ type: "text", text: turn.question }] };
  }
  const callId = (place: number): string => `toolu_${index}_${place}`;
  return {
    kind: "model",
    messageId: `msg_${index}`,
    blocks: turn.answer.map((one, place): ModelBlock =>
      one.kind === "text"
        ? { kind: "text", text: `${index}.${place} ${one.text}` }
        : one.kind === "thinking"
          ? { kind: "thinking", thinking: one.text, signature: "c2lnbmF0dXJl" }
          : { kind: "call", callId: callId(place), name: "Bash", input: one.input },
    ),
    results: turn.answer.flatMap((one, place) =>
      one.kind === "call" && one.result !== undefined
        ? [{ callId: callId(place), content: [{ type: "text" as const, text: one.result }], isError: one.isError }]
        : [],
    ),
  };
}

function withoutThinking(item: HistoryItem): HistoryItem {
  return item.kind === "model" ? { ...item, blocks: item.blocks.filter(({ kind }) => kind !== "thinking") } : item;
}

test("a history written from nothing agrees with itself and holds every item", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const { entries } = expectRebuilt([], history);
      for (const item of history) expect(endOf(item, entries)).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 300 },
  );
});

test("a history that lost its end is rebuilt from there, and what stands whole is untouched", () => {
  fc.assert(
    fc.property(histories, fc.nat(), (history, cut) => {
      const { entries } = agree([], history);
      const left = entries.slice(0, cut % entries.length);
      const broken = history.findIndex((item) => endOf(item, left) < 0);
      if (broken < 0) {
        expect(agree(left, history)).toEqual({ entries: left, agrees: true });
        return;
      }
      const { entries: rebuilt } = expectRebuilt(left, history);
      const end = Math.max(-1, ...history.slice(0, broken).map((item) => endOf(item, left)));
      expect(keptOf(rebuilt, left)).toBeGreaterThan(end);
    }),
    { numRuns: 300 },
  );
});

test("a history that lost any of its entries is rebuilt", () => {
  fc.assert(
    fc.property(histories, fc.infiniteStream(fc.boolean()), (conversation, loses) => {
      // Of an answer whose thinking alone is left see transcript-bugs.test.ts.
      const history = conversation.map(withoutThinking);
      const { entries } = agree([], history);
      const left = entries.filter(() => loses.next().value !== true);
      const whole = history.every((item) => endOf(item, left) >= 0);
      if (whole) expect(agree(left, history)).toEqual({ entries: left, agrees: true });
      else expectRebuilt(left, history);
    }),
    { numRuns: 300 },
  );
});

test("a message's uuid is the one it was sent under, so that the CLI knows it again", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const { entries } = agree([], history);
      const sent = history.flatMap((item) => (item.kind === "user" ? [uuidOf(item.eventId)] : []));
      const uuids = entries.map(({ uuid }) => uuid);
      expect(uuids.filter((uuid) => sent.includes(uuid ?? ""))).toEqual(sent);
    }),
    { numRuns: 100 },
  );
});
