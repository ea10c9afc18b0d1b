import { expect, test } from "vitest";
import { visible } from "../../web/src/approvals/visible.ts";

test("what hides itself or turns the direction is written out", () => {
  expect(visible("rm \u202Efdp.exe\u202C\u200Bx\u0007\u001B[31m\uFEFF")).toBe(
    "rm \\u{202e}fdp.exe\\u{202c}\\u{200b}x\\u{7}\\u{1b}[31m\\u{feff}",
  );
  expect(visible("a\u200Db \u200Cc")).toBe("a\\u{200d}b \\u{200c}c");
});

test("what is part of a character that people see stays", () => {
  for (const text of ["👩‍👩‍👧‍👦", "👩🏽‍💻", "❤️‍🔥", "می‌خواهم", "two\nlines\tand a tab"]) expect(visible(text)).toBe(text);
});
