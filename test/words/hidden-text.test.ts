import * as fc from "fast-check";
import { expect, test } from "vitest";
import { printable } from "../../src/eval/reports/printable.ts";
import { EscapedPieces, escapeHidden, hasUnseen, hiddenFreeJson } from "../../src/words/hidden-text.ts";
import { HIDDEN_CHARACTERS, hiddenIn } from "../support/hidden-characters.ts";

const WHOLE = ["👩‍👩‍👧‍👦", "👩🏽‍💻", "❤️‍🔥", "1️⃣", "می‌خواهم", "क्‍ष", "two\nlines\tand a tab", "naïve ümlaut 漢字"];

test("what hides itself or turns the direction is written out", () => {
  expect(escapeHidden("rm \u202Efdp.exe\u202C\u200Bx\u0007\u001B[31m\uFEFF")).toBe(
    "rm \\u{202e}fdp.exe\\u{202c}\\u{200b}x\\u{7}\\u{1b}[31m\\u{feff}",
  );
  expect(escapeHidden("a\u200Db \u200Cc \uD800")).toBe("a\\u{200d}b \\u{200c}c \\u{d800}");
});

test("none of them is left, whoever shows the text", () => {
  const text = HIDDEN_CHARACTERS.map((character) => `a${character}b`).join("");
  expect(hiddenIn(escapeHidden(text))).toEqual([]);
  expect(hiddenIn(printable(text)).filter((code) => code !== "d")).toEqual([]);
  const json = hiddenFreeJson({ text });
  expect(hiddenIn(json)).toEqual([]);
  expect(JSON.parse(json)).toEqual({ text });
  for (const character of HIDDEN_CHARACTERS.filter((one) => one >= "\u007F")) expect(hasUnseen(character)).toBe(true);
});

test.each(WHOLE)("what is part of a character that people see stays: %s", (text) => {
  expect(escapeHidden(text)).toBe(text);
  expect(printable(text)).toBe(text);
  expect(hasUnseen(text)).toBe(false);
});

test("a text in pieces is shown as the whole of it", () => {
  const part = fc.oneof(fc.constantFrom(...WHOLE, ...HIDDEN_CHARACTERS, "\uD83D", "x"), fc.string({ unit: "binary" }));
  const text = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.array(fc.nat({ max: 3 }), { minLength: 1 }), (whole, sizes) => {
      const pieces = new EscapedPieces();
      let shown = "";
      for (let at = 0, turn = 0; at < whole.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1;
        shown += pieces.push(whole.slice(at, at + size + 1));
        at += size + 1;
      }
      expect(shown + pieces.end()).toBe(escapeHidden(whole));
    }),
    { numRuns: 300 },
  );
});
