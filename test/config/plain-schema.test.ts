import { array, assert, constantFrom, dictionary, double, integer, letrec, oneof, property, string } from "fast-check";
import { expect, test } from "vitest";
import { isPlainSchema } from "../../src/config/yaml/plain-schema.ts";
import { compileJsonSchema } from "../../src/tools/json-schema.ts";

test.each([
  [{}, true],
  [{ type: "object", properties: { a: { type: ["string", "null"], format: "date" } }, required: ["a"] }, true],
  [{ type: "array", items: { anyOf: [{ const: 1 }, { enum: ["a", "b"] }] }, maxItems: 3 }, true],
  [{ type: "objekt" }, false],
  [{ type: "object", propertys: {} }, false],
  [{ properties: { a: { minLength: -1 } } }, false],
  [{ enum: [] }, false],
  [{ enum: [1, 1] }, false],
  [{ required: ["a", "a"] }, false],
  [{ items: [{ type: "string" }] }, false],
  // Valid, and not plain: somebody else must say so.
  [{ $ref: "#/$defs/a", $defs: { a: {} } }, false],
  [{ type: "string", pattern: "^a" }, false],
])("%j is plain: %s", (schema, expected) => {
  expect(isPlainSchema(schema)).toBe(expected);
});

const KEYWORDS =
  "type properties required items enum const additionalProperties anyOf oneOf minimum maxLength minItems format title default examples pattern $ref typo".split(
    " ",
  );

/** Schemas of which most are right and many are a little wrong. */
const { schema } = letrec<{ schema: Record<string, unknown>; value: unknown }>((tie) => ({
  schema: dictionary(constantFrom(...KEYWORDS), tie("value"), { maxKeys: 3 }),
  value: oneof(
    { maxDepth: 3, withCrossShrink: true },
    constantFrom<unknown>("string", "object", "null", ["string", "null"], true, false, [], {}, null),
    integer({ min: -2, max: 5 }),
    double(),
    string({ maxLength: 3 }),
    array(string({ maxLength: 2 }), { maxLength: 3 }),
    tie("schema"),
    array(tie("schema"), { maxLength: 2 }),
    dictionary(string({ maxLength: 2 }), tie("schema"), { maxKeys: 2 }),
  ),
}));

test("a schema compiler agrees that what is plain is valid", () => {
  assert(
    property(schema, (one) => {
      if (isPlainSchema(one)) expect(() => compileJsonSchema(one)).not.toThrow();
    }),
    { numRuns: 400, seed: 7 },
  );
});
