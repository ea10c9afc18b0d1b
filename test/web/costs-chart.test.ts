import { expect, test } from "vitest";
import { axisTop, labelPositions, stack, tickNames, withRest } from "../../web/src/parts/chart/chart-data.ts";

test("bars stand on each other, the highest is painted first, and one of no height is left out", () => {
  const series = [
    { name: "a", values: [1, 2, null] },
    { name: "b", values: [3, 0, 4] },
  ];
  expect(stack(series)).toEqual([
    [4, null, 4],
    [1, 2, null],
  ]);
});

test("up to six series stay as they are", () => {
  const six = Array.from({ length: 6 }, (_, index) => ({ name: String(index), values: [1] }));
  expect(withRest(six)).toEqual(six);
  expect(withRest([])).toEqual([]);
  expect(withRest([...six, { name: "7", values: [2] }]).at(-1)).toEqual({
    name: "Other (1)",
    values: [2],
    isRest: true,
  });
});

test("an axis names so many places as have room, the last one always", () => {
  expect(labelPositions(7, 10)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(labelPositions(30, 4)).toEqual([5, 13, 21, 29]);
  expect(labelPositions(3, 0)).toEqual([2]);
  expect(labelPositions(0, 5)).toEqual([]);
});

test("ticks have their unit, and digits that tell them apart", () => {
  expect(tickNames([0, 2, 4], "usd")).toEqual(["$0", "$2", "$4"]);
  expect(tickNames([0, 0.5, 1], "usd")).toEqual(["$0", "$0.50", "$1.00"]);
  expect(tickNames([0, 0.002, 0.004], "usd")).toEqual(["$0", "$0.002", "$0.004"]);
  expect(tickNames([0, 0.1, 0.2], "usd")).toEqual(["$0", "$0.10", "$0.20"]);
  expect(tickNames([0, 500, 1_000], "tokens")).toEqual(["0", "0.5k", "1k"]);
  expect(tickNames([0, 500_000, 1_000_000], "tokens")).toEqual(["0", "0.5M", "1M"]);
  expect(tickNames([0, 5, 10], "tokens")).toEqual(["0", "5", "10"]);
  expect(tickNames([0, 0.5, 1], "share")).toEqual(["0%", "50%", "100%"]);
});

test("an axis without anything on it still has a top", () => {
  expect(axisTop(0, "usd")).toBeGreaterThan(0);
  expect(axisTop(0, "tokens")).toBeGreaterThan(0);
  expect(axisTop(0.2, "share")).toBe(1);
  expect(axisTop(100, "usd")).toBeGreaterThan(100);
});
