import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { CursorLines } from "../../src/cli/chat/editor/editor-view.ts";
import { frame, clearLive, EMPTY_FRAME, rowAfterResize } from "../../src/cli/chat/view/frame.ts";
import { type LiveParts, liveRegion } from "../../src/cli/chat/view/layout.ts";
import { contextWindow, statusLine } from "../../src/cli/chat/view/status.ts";
import { widthOf } from "../../src/cli/terminal/text.ts";
import { TerminalEmulator } from "../support/terminal-emulator.ts";

const HEIGHT = 12;

const words = fc.array(fc.constantFrom("", "a", "tea", "> x", "longer line"), { minLength: 1, maxLength: HEIGHT - 1 });
const placed = words.chain((lines) =>
  fc.record({
    lines: fc.constant(lines),
    row: fc.integer({ min: 0, max: lines.length - 1 }),
    column: fc.integer({ min: 0, max: 5 }),
  }),
);
const printed = fc.array(fc.constantFrom("done", "", "another line"), { maxLength: 4 });

test("whatever changes from frame to frame, the screen shows what was printed and, below it, what is live", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(placed, printed), { minLength: 1, maxLength: 8 }), (frames) => {
      const terminal = new TerminalEmulator(HEIGHT);
      const finished: string[] = [];
      let drawn: CursorLines = EMPTY_FRAME;
      for (const [next, lines] of frames) {
        terminal.write(frame(drawn, next, lines));
        drawn = next;
        finished.push(...lines);
        expect(terminal.lines).toEqual(trimLines([...finished, ...next.lines]));
        expect(terminal.cursor).toEqual({ row: finished.length + next.row, column: next.column });
      }
      terminal.write(clearLive(drawn, ["last"]));
      expect(terminal.lines).toEqual([...finished, "last"]);
    }),
  );
});

function trimLines(lines: readonly string[]): readonly string[] {
  return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1);
}

test("only lines that differ are written again, all of them at once", () => {
  const before: CursorLines = { lines: ["same", "old", "> a"], row: 2, column: 3 };
  const text = frame(before, { ...before, lines: ["same", "new", "> a"] }, []);
  expect(text).toContain("new");
  expect(text).not.toContain("same");
  expect(text.startsWith("\u001B[?2026h")).toBe(true);
  expect(text.endsWith("\u001B[?2026l")).toBe(true);
});

test("after a resize the rows are counted as the terminal has broken them", () => {
  const drawn: CursorLines = { lines: ["x".repeat(79), "short", "> input"], row: 2, column: 7 };
  expect(rowAfterResize(drawn, 80)).toBe(2);
  expect(rowAfterResize(drawn, 40)).toBe(3);
  expect(rowAfterResize(drawn, 20)).toBe(5);
  expect(rowAfterResize(drawn, 4)).toBe(20 + 2 + 1);
});

const parts: LiveParts = {
  tail: Array.from({ length: 30 }, (_, index) => `line ${index}`),
  calls: Array.from({ length: 12 }, (_, index) => `call ${index}`),
  queued: ["» one", "» two", "» three", "» four", "» five"],
  hints: [],
  editor: { text: "hello", cursor: 5 },
  status: "status",
};

test.each([1, 2, 3, 5, 8, 14, 24, 60])("what is live fits a terminal of %i rows, with the input in it", (height) => {
  const { lines, row, column } = liveRegion(parts, { width: 40, height });
  expect(lines.length).toBeLessThanOrEqual(Math.max(1, height));
  expect(lines[row]).toContain("hello");
  expect(column).toBe(7);
});

test("of what streams the end is seen, of many calls the first, and how many there are", () => {
  const { lines } = liveRegion(parts, { width: 40, height: 30 });
  expect(lines).toContain("line 29");
  expect(lines).toContain("call 0");
  expect(lines.map(stripVTControlCharacters)).toContain("  … 5 more");
});

const spent = { usd: 0.25, includedUsd: 0, rehearsalUsd: 0, unpricedRequests: 0 };

test.each([
  [100, "opus-4-8 on direct · plan · context 12k of 1M (1%) · $0.25 of $2.00 · session 12345678"],
  [80, "opus-4-8 on direct · plan · context 12k of 1M (1%) · $0.25 of $2.00"],
  [60, "opus-4-8 · plan · context 12k of 1M (1%) · $0.25 of $2.00"],
  [50, "opus-4-8 · plan · context 1% · $0.25 of $2.00"],
  [30, "plan · 1% · $0.25 of $2.00"],
  [20, "plan · 1%"],
  [4, "pl…"],
])("in %i columns the status line says what fits", (width, expected) => {
  const status = {
    sessionId: "sesn_0000012345678",
    model: "claude-opus-4-8",
    engine: "direct",
    mode: "plan",
    meter: { context: 12_345, spent },
    isRehearsal: false,
    maxUsd: 2,
  };
  const line = stripVTControlCharacters(statusLine(status, width));
  expect(line).toBe(expected);
  expect(widthOf(line)).toBeLessThan(width);
});

test("in few columns a rehearsal is told of until there is more to tell", () => {
  const status = {
    sessionId: undefined,
    model: "claude-opus-4-8",
    engine: "claude",
    mode: "normal",
    maxUsd: undefined,
    isRehearsal: true,
  };
  const shown = (context: number | undefined): string =>
    stripVTControlCharacters(statusLine({ ...status, meter: { context, spent } }, 20));
  expect([shown(undefined), shown(12_345)]).toEqual(["normal · rehearsal", "normal · 1%"]);
});

test.each([
  ["nothing was spent", { ...spent, usd: 0 }, "opus-4-8 · normal · $0 rehearsal"],
  ["money was paid before", spent, "opus-4-8 · normal · $0.25 + $0 rehearsal"],
  ["the rehearsal was at work", { ...spent, usd: 0.5, rehearsalUsd: 0.5 }, "opus-4-8 · normal · $0.50 rehearsal"],
])("a rehearsal is told of when %s", (_when, used, expected) => {
  const meter = { context: undefined, spent: used };
  const status = {
    sessionId: undefined,
    model: "claude-opus-4-8",
    engine: "claude",
    mode: "normal",
    maxUsd: undefined,
  };
  const line = statusLine({ ...status, meter, isRehearsal: true }, 80);
  expect(stripVTControlCharacters(line)).toBe(expected);
});

test("the window of a model is what the pinned SDK counts with", () => {
  const small = ["claude-haiku-4-5", "claude-sonnet-4-20250514", "claude-opus-4-6", "claude-3-7-sonnet-20250219"];
  const large = ["claude-opus-4-7", "claude-opus-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-sonnet-4-5[1m]"];
  expect(small.map(contextWindow)).toEqual(small.map(() => 200_000));
  expect(large.map(contextWindow)).toEqual(large.map(() => 1_000_000));
});
