import { describe, expect, test } from "vitest";
import { z } from "zod";
import { compileJsonSchema, describeProblems, type SchemaProblem } from "../../src/tools/json-schema.ts";

type JsonSchema = Parameters<typeof compileJsonSchema>[0];

const order: JsonSchema = {
  type: "object",
  properties: {
    state: { enum: ["open", "done"] },
    version: { const: 2 },
    mail: { type: "string", format: "email" },
    items: { type: "array", items: { type: "object", properties: { count: { type: "integer" } } } },
  },
  required: ["state"],
  additionalProperties: false,
};

describe("a value", () => {
  test.each<[string, JsonSchema, unknown, SchemaProblem[]]>([
    ["that matches", order, { state: "open", version: 2, items: [{ count: 1 }] }, []],
    ["without a field", order, {}, [{ path: "", message: "must have required property 'state'" }]],
    ["of another type", order, [], [{ path: "", message: "must be object" }]],
    [
      "with a field of another type, deep inside",
      order,
      { state: "open", items: [{ count: 1 }, { count: "two" }] },
      [{ path: "/items/1/count", message: "must be integer" }],
    ],
    [
      "that is none of a list",
      order,
      { state: "lost" },
      [{ path: "/state", message: 'must be equal to one of the allowed values: ["open","done"]' }],
    ],
    [
      "that is not the one allowed",
      order,
      { state: "open", version: 1 },
      [{ path: "/version", message: "must be equal to constant: 2" }],
    ],
    [
      "with a field too many",
      order,
      { state: "open", color: "red" },
      [{ path: "", message: 'must NOT have additional properties: "color"' }],
    ],
    [
      "in a wrong format",
      order,
      { state: "open", mail: "nobody" },
      [{ path: "/mail", message: 'must match format "email"' }],
    ],
    [
      "with several problems",
      order,
      { version: 1, mail: 5 },
      [
        { path: "", message: "must have required property 'state'" },
        { path: "/version", message: "must be equal to constant: 2" },
        { path: "/mail", message: "must be string" },
      ],
    ],
    [
      "that is wrong in the same way for two reasons",
      { allOf: [{ $ref: "#/$defs/text" }, { $ref: "#/$defs/text" }], $defs: { text: { type: "string" } } },
      5,
      [{ path: "", message: "must be string" }],
    ],
  ])("%s has the problems it has", (_what, schema, value, problems) => {
    expect(compileJsonSchema(schema)(value)).toEqual(problems);
  });

  test("is not changed by the check", () => {
    const value = Object.freeze({ state: "open" });
    expect(
      compileJsonSchema({ ...order, properties: { state: { default: "x" }, mail: { default: "x" } } })(value),
    ).toEqual([]);
    expect(value).toEqual({ state: "open" });
  });

  test("has its problems told in one line", () => {
    expect(describeProblems(compileJsonSchema(order)({ state: 1, version: 1, x: 1 }))).toBe(
      '(root): must NOT have additional properties: "x"; /state: must be equal to one of the allowed values: ["open","done"]; /version: must be equal to constant: 2',
    );
  });
});

describe("a schema", () => {
  test.each<[string, JsonSchema, string]>([
    [
      "an unknown type",
      { properties: { a: { type: "strin" } } },
      '/properties/a/type: must be equal to one of the allowed values: ["array"',
    ],
    ["a keyword of a wrong shape", { required: "a" }, "/required: must be array"],
    [
      "a list of items from an older draft",
      { properties: { a: { items: [{}] } } },
      "/properties/a/items: must be object",
    ],
    [
      "a misspelt keyword, also below a property of that name",
      { properties: { requird: { requird: ["a"] } } },
      '/properties/requird/requird: strict mode: unknown keyword: "requird"',
    ],
    [
      "a misspelt keyword below a property named as a keyword",
      { properties: { properties: { requird: ["a"] } } },
      "/properties/properties/requird: strict mode",
    ],
    [
      "a dangling reference",
      { $defs: { "a/b": { $ref: "#/nowhere" } }, $ref: "#/$defs/a~1b" },
      "/$defs/a~1b/$ref: can't resolve",
    ],
    [
      "a reference to another document",
      { $ref: "https://x.org/s.json" },
      "/$ref: can't resolve reference https://x.org",
    ],
    [
      "a broken pattern",
      { properties: { a: { pattern: "a" }, b: { pattern: "(" } } },
      "/properties/b/pattern: Invalid regular",
    ],
    [
      "an empty list of values",
      { properties: { a: { enum: [] } } },
      "/properties/a/enum: enum must have non-empty array",
    ],
    ["a condition without a consequence", { if: {} }, '/if: strict mode: "if" without "then"'],
    [
      "another draft",
      { $schema: "http://json-schema.org/draft-07/schema#" },
      '/$schema: no schema with key or ref "http',
    ],
    ["an asynchronous check", { $async: true }, "/$async: is not supported"],
  ])("with %s is refused, naming the place and the reason", (_what, schema, problem) => {
    expect(() => compileJsonSchema(schema)).toThrow(
      expect.objectContaining({ code: "invalid_schema", message: expect.stringContaining(problem) }),
    );
  });

  test("may have the same $id as another one", () => {
    const identified = { $id: "https://example.org/a", type: "string" };
    expect(compileJsonSchema(identified)("a")).toEqual([]);
    expect(compileJsonSchema({ ...identified, type: "number" })("a")).toHaveLength(1);
  });

  test("may have formats that only its author knows", () => {
    const check = compileJsonSchema(z.toJSONSchema(z.object({ id: z.nanoid(), name: z.string().startsWith("a") })));
    expect(check({ id: "V1StGXR8_Z5jdHi6B-myT", name: "ada" })).toEqual([]);
    expect(check({ id: "short", name: "bob" }).map(({ path }) => path)).toEqual(["/id", "/name"]);
  });
});
