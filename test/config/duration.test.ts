import { describe, expect, test } from "vitest";
import { parseDuration } from "../../src/core/text/duration.ts";

describe("a duration", () => {
  test.each([
    ["500ms", 500],
    ["90s", 90_000],
    ["10m", 600_000],
    ["1h30m", 5_400_000],
    ["30d", 2_592_000_000],
    ["1d2h3m4s5ms", 93_784_005],
    ["1.5h", 5_400_000],
    ["0.0004s", 0],
    ["0s", 0],
    [" 5m ", 300_000],
  ])("%s is %d milliseconds", (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  const remedy = "Write a number with its unit (d, h, m, s or ms), such as 90s, 10m, 1h30m or 30d.";
  test.each(["", " ", "10", "m", "-5m", "5 m", "30m1h", "5m5m", "10M", "5min", "1e3s", "1,5h", "5m!", "٣s"])(
    "is not %j",
    (text) => {
      expect(() => parseDuration(text)).toThrow(
        expect.objectContaining({
          code: "invalid_input",
          message: `${JSON.stringify(text)} is not a duration. ${remedy}`,
        }),
      );
    },
  );

  test("has an end", () => {
    expect(() => parseDuration("999999999999d")).toThrow(
      '"999999999999d" is not a duration. It is too long to count in milliseconds.',
    );
  });
});
