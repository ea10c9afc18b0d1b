import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect, test } from "vitest";
import { valueFor } from "../../src/gateway/rehearsal/rehearsal-value.ts";

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

const tree = {
  $defs: {
    node: {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
      required: ["name", "children"],
    },
  },
  $ref: "#/$defs/node",
};

test.each<[string, Record<string, unknown>]>([
  ["nothing", {}],
  ["an object", { type: "object", properties: { a: { type: "string" }, b: { type: "integer" } }, required: ["a"] }],
  ["a closed object", { type: "object", properties: { a: { type: "boolean" } }, additionalProperties: false }],
  ["a required name without a schema", { type: "object", required: ["x"] }],
  ["a list", { type: "array", items: { type: "number" }, minItems: 3 }],
  ["a list of different strings", { type: "array", items: { type: "string" }, minItems: 3, uniqueItems: true }],
  ["a list that must be empty", { type: "array", maxItems: 0 }],
  ["a tuple", { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], items: false }],
  ["an enumeration", { enum: ["x", "y"] }],
  ["a constant", { const: 7 }],
  ["a default", { type: "string", default: "d" }],
  ["something nullable", { type: ["string", "null"] }],
  ["only null", { type: "null" }],
  ["a choice", { anyOf: [{ type: "integer", minimum: 5 }, { type: "null" }] }],
  [
    "a choice of objects",
    {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a"],
      oneOf: [{ properties: { k: { const: "x" } }, required: ["k"] }],
    },
  ],
  [
    "several at once",
    {
      allOf: [
        { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { b: { type: "number" } }, required: ["b"] },
      ],
    },
  ],
  [
    "a reference",
    {
      $defs: { "a/b": { type: "integer" } },
      type: "object",
      properties: { n: { $ref: "#/$defs/a~1b" } },
      required: ["n"],
    },
  ],
  ["a schema that contains itself", tree],
  ["a minimum", { type: "number", minimum: 10 }],
  ["an open minimum", { type: "integer", exclusiveMinimum: 10 }],
  ["a maximum below one", { type: "integer", maximum: -3 }],
  ["a narrow range", { type: "number", minimum: 0.2, maximum: 0.4 }],
  ["an open range", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }],
  ["a multiple", { type: "integer", multipleOf: 7, minimum: 20 }],
  ["a length", { type: "string", minLength: 50 }],
  ["a short length", { type: "string", maxLength: 3 }],
  ...["date-time", "date", "time", "duration", "email", "hostname", "ipv4", "ipv6", "uri", "uuid"].map(
    (format): [string, Record<string, unknown>] => [`the format ${format}`, { type: "string", format }],
  ),
])("%s is filled with a value that fits", (_name, schema) => {
  const value = valueFor(schema);
  const validate = ajv.compile(schema);
  expect(validate(value), `${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`).toBe(true);
});

test("a schema that must contain itself for ever comes to an end", () => {
  const endless = {
    $defs: { a: { type: "object", properties: { a: { $ref: "#/$defs/a" } }, required: ["a"] } },
    $ref: "#/$defs/a",
  };
  expect(valueFor(endless)).toHaveProperty("a.a.a");
  expect(valueFor({ $ref: "#" })).toBeDefined();
});
