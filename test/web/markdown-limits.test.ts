import { expect, test } from "vitest";
import { canBeLaidOut } from "../../web/src/parts/text/markdown-limits.ts";

test("what people and models write is laid out", () => {
  for (const text of [
    "",
    "# A title\n\n- one\n  - two\n    1. three\n\n> said\n>> and said again",
    `${"*".repeat(80)}\n${"-".repeat(80)}\n${"- ".repeat(3)}`,
    "**bold** and *slanted* and ~~gone~~ ".repeat(400),
    "snake_case_names and 2*3*4 ".repeat(500),
    `\`\`\`c\n${"int *a, **b;\n".repeat(500)}\`\`\``,
    `\`\`\`\n${" ".repeat(200)}- far to the right\n${"|".repeat(10_000)}\n\`\`\``,
    `| a | b |\n|---|---|\n${"| c | d |\n".repeat(300)}`,
  ])
    expect(canBeLaidOut(text), text.slice(0, 60)).toBe(true);
});

test("what would keep the page busy for minutes is not", () => {
  for (const text of [
    `${">".repeat(10_000)} x`,
    `${"> ".repeat(10_000)} x`,
    `${"- ".repeat(10_000)}x`,
    `${"1. ".repeat(10_000)}x`,
    Array.from({ length: 10_000 }, (_, depth) => `${" ".repeat(2 * depth)}- a`).join("\n"),
    Array.from({ length: 60 }, (_, depth) => `${" ".repeat(2 * depth)}- a`).join("\n"),
    `${"*".repeat(10_000)}x${"*".repeat(10_000)}`,
    "*a **b ".repeat(1_400) + "c** d*".repeat(1_400),
    `${"*a\n".repeat(200)}b${"*\n".repeat(200)}`,
    `|${"a|".repeat(500)}\n|${"-|".repeat(500)}\n${`|${"b|".repeat(500)}\n`.repeat(18)}`,
    "[^a]".repeat(5_000),
    "x".repeat(1_048_576),
  ])
    expect(canBeLaidOut(text), text.slice(0, 60)).toBe(false);
});
