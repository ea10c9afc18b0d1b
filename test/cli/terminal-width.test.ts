import stringWidth from "string-width";
import { expect, test } from "vitest";
import { widthOf } from "../../src/cli/terminal/text.ts";

test("every character has the width that string-width gives it, alone and after another", () => {
  const characters = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code));
  const texts = characters.flatMap((character) => [character, `a${character}`, `é${character}…`]);
  expect(texts.filter((text) => widthOf(text) !== stringWidth(text))).toEqual([]);
});

test.for([
  ["plain", 5],
  ["Übersicht…", 10],
  ["日本語", 6],
  ["한국어", 6],
  ["👩‍👩‍👧", 2],
  ["🇩🇪", 2],
  ["❤️", 2],
  ["✓ done", 6],
  ["e\u0301", 1],
  ["", 0],
] as const)("%s takes %i columns", ([text, width]) => {
  expect(widthOf(text)).toBe(width);
});
