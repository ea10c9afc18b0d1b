import { expect, test } from "vitest";
import { isFull } from "../../../src/engines/direct/line/compaction.ts";
import { modelToAsk } from "../../../src/engines/direct/model/model-to-ask.ts";

const small = modelToAsk("claude-opus-4-8");
const long = modelToAsk("claude-opus-4-8[1m]");

test("a context is full 33,000 tokens before the end of the model's window, or where the agent asks for it", () => {
  expect([167_000, 167_001].map((tokens) => isFull(tokens, { model: small, least: 0 }))).toEqual([false, true]);
  expect([967_000, 967_001].map((tokens) => isFull(tokens, { model: long, least: 0 }))).toEqual([false, true]);
  expect([20_000, 20_001].map((tokens) => isFull(tokens, { model: small, at: 20_000, least: 0 }))).toEqual([
    false,
    true,
  ]);
  // A later point than the window has room for changes nothing.
  expect(isFull(167_001, { model: small, at: 500_000, least: 0 })).toBe(true);
});

test("a context that its instructions and tools alone fill is not summarised at each step", () => {
  const sizes = [31_000, 35_000, 35_001];
  expect(sizes.map((tokens) => isFull(tokens, { model: small, at: 20_000, least: 30_000 }))).toEqual([
    false,
    false,
    true,
  ]);
});
