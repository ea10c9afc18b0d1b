import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { readPlainYaml } from "../../src/config/yaml/plain-yaml.ts";
import { readAllYaml } from "../../src/config/yaml/yaml-file.ts";

/** What the parser makes of it that knows all of YAML. */
function read(text: string): { readonly value: unknown } | { readonly error: true } {
  try {
    return { value: readAllYaml(text, { file: "x.yaml", code: "invalid_suite" }).value };
  } catch {
    return { error: true };
  }
}

/** Whatever is read as plain is what it is. */
function check(text: string): boolean {
  const plain = readPlainYaml(text);
  if (plain !== undefined) expect({ value: plain.value }, text).toEqual(read(text));
  return plain !== undefined;
}

const files = readdirSync("examples/agents", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => readFileSync(join("examples/agents", file), "utf8"));

test("the suites of the examples are plain, and read the same", () => {
  expect(files.filter(check).length).toBeGreaterThan(4);
});

const PIECES = [
  ...Array.from("\n \t#:-,?|>&*!%@`'\"{}[]\\~.01ex_/é"),
  "\n  ",
  "\n- ",
  "\n  - ",
  ": ",
  " #",
  "- ",
  "key: ",
  "|\n",
  "|\n    x\n\n",
  "null",
  "Yes",
  "0x1",
  "1e3",
  "-1",
  "1.5",
  "<<: ",
  "''",
  '"\\n"',
  '"\\x41"',
  "{ a: b }",
  "[1, two]",
  "---\n",
  "__proto__: 1",
];

test("texts that were changed anywhere read the same, or are not plain", () => {
  const changed = fc
    .tuple(
      fc.constantFrom(...files),
      fc.array(fc.tuple(fc.nat(), fc.nat({ max: 6 }), fc.constantFrom(...PIECES)), { minLength: 1, maxLength: 4 }),
    )
    .map(([text, changes]) =>
      changes.reduce((sofar, [place, length, piece]) => {
        const at = place % (sofar.length + 1);
        return sofar.slice(0, at) + piece + sofar.slice(at + length);
      }, text),
    );
  fc.assert(
    fc.property(changed, (text) => void check(text)),
    { numRuns: 1500 },
  );
});

test("pieces of YAML in any order read the same, or are not plain", () => {
  const text = fc.array(fc.constantFrom(...PIECES, "a: ", "b:", "word"), { maxLength: 12 }).map((all) => all.join(""));
  fc.assert(
    fc.property(text, (one) => void check(one)),
    { numRuns: 6000 },
  );
});

test("values that were written as YAML read the same", () => {
  const word = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("true", "12", "- x", "a: b", "# no", "x\ny\n"));
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 3 }, word, fc.integer(), fc.boolean(), fc.constant(null), tie("list"), tie("mapping")),
    list: fc.array(tie("any"), { maxLength: 3 }),
    mapping: fc.dictionary(fc.stringMatching(/^[a-z][a-z_.]{0,5}$/), tie("any"), { maxKeys: 3 }),
  }));
  const flow = fc.constantFrom("block", "flow", "any");
  fc.assert(
    fc.property(value.mapping, flow, (one, collectionStyle) => void check(stringify(one, { collectionStyle }))),
    { numRuns: 1000 },
  );
});

test.each(["[", "{ a: ", "\n-", "a:\n- "])("what is nested deeply is not plain: %j", (piece) => {
  for (const depth of [20, 40, 70, 20_000]) check(`a: ${piece.repeat(depth)}x`);
  expect(readPlainYaml(`a: ${"[".repeat(40)}1${"]".repeat(40)}`)).toBeUndefined();
  const steps = Array.from({ length: 40 }, (_, index) => `${" ".repeat(index)}a:`);
  expect(readPlainYaml(`${steps.join("\n")} 1`)).toBeUndefined();
});

test("it knows on which lines the items of lists begin", () => {
  const { value, lines } = readPlainYaml("a:\n  # one\n  - b: 1\n    c: 2\n\n  - { d: 3 }\n") ?? {};
  const { a } = value as { a: object[] };
  expect(lines?.get(a)).toEqual([3, 6]);
});
