import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { markdownLines } from "../../src/cli/chat/view/markdown.ts";
import { completeMarkdown } from "../../src/cli/chat/view/complete-markdown.ts";
import { StreamedText } from "../../src/cli/chat/view/streamed-text.ts";
import { widthOf } from "../../src/cli/terminal/text.ts";

const PAGE = `# A title

Some **bold text**, *slanted*, \`code\`, [a link](https://example.org/a) and https://example.org/b.

1. one
2. two, which is longer than the others
   - below
   - [x] done
3. three

\`\`\`js
const a = 1;

run(a);
\`\`\`

| name | what |
|---|---|
| tea | **hot** |
| 日本 | 👩‍👩‍👧 |

> quoted
> twice

- [ ] open
- a &lt; b
---
The end.`;

const plain = (source: string, width: number): string[] => markdownLines(source, width).map(stripVTControlCharacters);

test("what a model writes is laid out for a terminal", () => {
  expect(plain(PAGE, 60)).toEqual([
    "A title",
    "",
    "Some bold text, slanted, `code`, a link",
    "(https://example.org/a) and https://example.org/b.",
    "",
    "1. one",
    "2. two, which is longer than the others",
    "   • below",
    "   • [x] done",
    "3. three",
    "",
    "  const a = 1;",
    "",
    "  run(a);",
    "",
    "name  what",
    "────  ────",
    "tea   hot",
    "日本  👩‍👩‍👧",
    "",
    "│ quoted",
    "│ twice",
    "",
    "• [ ] open",
    "• a < b",
    "",
    "────────────────────────────────────────",
    "",
    "The end.",
  ]);
});

test("in twenty columns a table is one row under the other, and nothing is left out", () => {
  const lines = plain("| name | what it does |\n|---|---|\n| tea | warms the hands |\n| ice | cools them |", 20);
  expect(lines).toEqual([
    "name: tea",
    "what it does: warms",
    "the hands",
    "",
    "name: ice",
    "what it does: cools",
    "them",
  ]);
});

test.each([1, 8, 20, 33, 80])("no line is wider than %i columns", (width) => {
  for (const line of plain(PAGE, width)) if (widthOf(line) > Math.max(2, width)) expect(line.length).toBeLessThan(12);
});

test("no text can steer the terminal", () => {
  const hostile =
    "a\u001B[2Jb \u009B31m c\u0007 `\u001B]0;x\u0007` \u202Eback\u202C\n```\n\u001B[1A\n```\n|\u001B|b|\n|-|-|\n";
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  for (const line of plain(hostile, 40)) expect(line).not.toMatch(/[\u0000-\u001F\u007F-\u009F\u202A-\u202E]/);
});

const pieces = fc.array(
  fc.constantFrom(
    "# ",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "**",
    "*",
    "`",
    "```",
    "```\n",
    "| a | b |\n",
    "|-|-|\n",
    "> ",
    "word",
    "two words",
    "日本",
    "👩‍👩‍👧",
    "---\n",
    "    ",
    "[x](y)",
  ),
  { maxLength: 40 },
);

test("however a message is cut into pieces, what is printed is what the whole would be", () => {
  fc.assert(
    fc.property(pieces, fc.integer({ min: 10, max: 60 }), (parts, width) => {
      const streamed = new StreamedText();
      const printed: string[] = [];
      for (const part of parts) {
        streamed.append(part);
        printed.push(...streamed.takeFinished(width));
        streamed.tail(width);
      }
      printed.push(...streamed.end(width));
      expect(words(printed)).toEqual(words(markdownLines(parts.join(""), width)));
    }),
    { numRuns: 300 },
  );
});

/** Where lines end may differ at the seams of lists; what is said may not. */
function words(lines: readonly string[]): string {
  return lines.map(stripVTControlCharacters).join(" ").replaceAll(/\s+/g, " ").trim();
}

test("a page that comes letter by letter is printed line for line as the whole", () => {
  for (const size of [1, 3, 17]) {
    const streamed = new StreamedText();
    const printed: string[] = [];
    for (let at = 0; at < PAGE.length; at += size) {
      streamed.append(PAGE.slice(at, at + size));
      printed.push(...streamed.takeFinished(60));
    }
    expect([...printed, ...streamed.end(60)]).toEqual(markdownLines(PAGE, 60));
  }
});

test.each([
  ["a **bol", "a **bol**"],
  ["a **", "a "],
  ["a *b", "a *b*"],
  ["2 * 3", "2 * 3"],
  ["see `co", "see `co`"],
  ["see [here](https://exa", "see here"],
  ["items:\n-", "items:"],
  ["items:\n- one\n2", "items:\n- one"],
  ["text\n```j", "text"],
  ["```\ncode **", "```\ncode **"],
  ["```\ncode\n``", "```\ncode\n"],
  ["| a | b |", ""],
  ["| a | b |\n|--", ""],
])("%j is shown as %j until the rest has come", (source, shown) => {
  expect(completeMarkdown(source)).toBe(shown);
});
