import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { GRADER_KINDS } from "../../src/core/suite/grader-schema.ts";
import { parseGrader } from "./grade-support.ts";

const page = readFileSync("docs/graders.md", "utf8");
const blocks = [...page.matchAll(/^```yaml graders\n([\s\S]*?)^```$/gm)].map(
  ([, text = ""]) => parse(text) as readonly unknown[],
);
const examples = blocks.flat().map((example) => ({ example }));

test.for(examples)("$example is a grader", ({ example }) => {
  expect(GRADER_KINDS).toContain(parseGrader(example).kind);
});

test("the page has an example of each grader", () => {
  const kinds = new Set(examples.map(({ example }) => parseGrader(example).kind));
  expect([...kinds].toSorted()).toEqual(GRADER_KINDS.toSorted());
});

test("the table has each grader once", () => {
  const rows = [...page.matchAll(/^\| \[`(\w+)`\]/gm)].map(([, name = ""]) => name);
  expect(rows.toSorted()).toEqual(GRADER_KINDS.toSorted());
});
