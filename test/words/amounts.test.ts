import { describe, expect, test } from "vitest";
import {
  ago,
  compactCount,
  count,
  duration,
  money,
  percent,
  preciseMoney,
  size,
  thousands,
} from "../../src/words/amounts.ts";

describe("money", () => {
  test.each([
    [0, "$0"],
    [0.000_05, "<$0.0001"],
    [0.000_123, "$0.00012"],
    [0.0042, "$0.0042"],
    [0.004, "$0.0040"],
    [0.009_94, "$0.0099"],
    [0.009_95, "$0.01"],
    [0.023, "$0.02"],
    [0.5, "$0.50"],
    [12.345, "$12.35"],
    [1_234.5, "$1,234.50"],
    [-0.02, "-$0.02"],
  ])("shows %d as %s", (usd, text) => expect(money(usd)).toBe(text));

  test.each([
    [0, "$0"],
    [0.5, "$0.50"],
    [0.0234, "$0.0234"],
    [0.02, "$0.02"],
    [0.000_001, "$0.000001"],
    [1_234, "$1,234.00"],
    [0.1 + 0.2, "$0.30"],
  ])("keeps the digits of %d where sums are compared: %s", (usd, text) => expect(preciseMoney(usd)).toBe(text));
});

describe("durations", () => {
  test.each([
    [-5, "0 ms"],
    [530, "530 ms"],
    [999.6, "1 s"],
    [1_500, "1.5 s"],
    [2_000, "2 s"],
    [59_940, "59.9 s"],
    [59_960, "1 min"],
    [125_000, "2 min 5 s"],
    [600_000, "10 min"],
    [5_400_000, "1 h 30 min"],
    [604_800_000, "7 d"],
    [97_200_000, "1 d 3 h"],
  ])("shows %d ms as %s", (ms, text) => expect(duration(ms)).toBe(text));

  test.each([
    [-60_000, "just now"],
    [44_000, "just now"],
    [60_000, "1 min ago"],
    [7_200_000, "2 h ago"],
    [172_800_000, "2 d ago"],
  ])("shows that %d ms have passed as %s", (ms, text) => expect(ago(ms)).toBe(text));
});

describe("sizes", () => {
  test.each([
    [0, "0 B"],
    [512, "512 B"],
    [1_000, "1.0 kB"],
    [999_999, "1.0 MB"],
    [1_400_000, "1.4 MB"],
    [123_456_789, "123 MB"],
    [2e12, "2.0 TB"],
  ])("shows %d bytes as %s", (bytes, text) => expect(size(bytes)).toBe(text));
});

describe("counts", () => {
  test("separate thousands and follow the number with its noun", () => {
    expect(thousands(1_234_567)).toBe("1,234,567");
    expect(thousands(999)).toBe("999");
    expect(thousands(1_234.5678)).toBe("1,234.5678");
    expect(count(12_000, "token")).toBe("12,000 tokens");
    expect(count(1, "file")).toBe("1 file");
    expect(count(2, "entry", "entries")).toBe("2 entries");
  });

  test.each([
    [950, "950"],
    [1_000, "1k"],
    [1_240, "1.2k"],
    [12_345, "12k"],
    [999_600, "1M"],
    [1_250_000, "1.3M"],
  ])("shorten %d to %s in narrow places", (value, text) => expect(compactCount(value)).toBe(text));

  test("show shares in percent, with a decimal where it is not zero", () => {
    expect(percent(0.8)).toBe("80%");
    expect(percent(1 / 3)).toBe("33.3%");
    expect(percent(0.999)).toBe("99.9%");
  });
});
