import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { StandardSchema } from "../../src/core/agent/standard-schema.ts";
import type { Tool, ToolContext } from "../../src/core/ports/tool.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { modelText, toolContext } from "../support/tool-context.ts";

const named = { name: "probe", description: "A probe." };
const empty = { ...named, input: z.object({}) };
const handler = (): string => "";

/** A Standard Schema that no library made. */
const evenNumber: StandardSchema<{ n: number }, { half: number }> = {
  "~standard": {
    version: 1,
    vendor: "by-hand",
    validate: async (value) => {
      const { n } = value as { n: number };
      return n % 2 === 0 ? { value: { half: n / 2 } } : { issues: [{ message: "is odd", path: [{ key: "n" }] }] };
    },
    jsonSchema: { input: ({ target }) => ({ type: "object", properties: { n: { type: "number" } }, title: target }) },
  },
};

const noteSchema = { type: "object", properties: { note: { type: "string" } }, required: ["note"] };

describe("a definition", () => {
  test("gives the model the JSON Schema of a zod schema, before defaults and transforms", () => {
    const tool = defineTool({
      ...named,
      input: z.object({ when: z.iso.date().default("2026-01-01"), size: z.number().transform(String) }),
      handler: () => "",
    });
    expect(tool.inputSchema).toMatchObject({
      type: "object",
      properties: { when: { type: "string", format: "date" }, size: { type: "number" } },
      required: ["size"],
    });
  });

  test("gives the model the JSON Schema that stands beside a schema which cannot describe itself", async () => {
    const tool = defineTool({
      ...named,
      input: v.object({ note: v.pipe(v.string(), v.trim()) }),
      inputJsonSchema: noteSchema,
      handler: ({ note }) => note,
    });
    expect(tool.inputSchema).toEqual(noteSchema);
    expect(modelText(await tool.run({ note: " hi " }, toolContext()))).toBe("hi");
    expect(modelText(await tool.run({}, toolContext()))).toContain("note: ");
  });

  test("asks a schema made by hand for draft 2020-12 and awaits its check", async () => {
    const tool = defineTool({ ...named, input: evenNumber, handler: ({ half }) => `${half}` });
    expect(tool.inputSchema["title"]).toBe("draft-2020-12");
    expect(modelText(await tool.run({ n: 8 }, toolContext()))).toBe("4");
    expect(modelText(await tool.run({ n: 7 }, toolContext()))).toContain("- n: is odd");
  });

  test("has every annotation, false unless said otherwise", () => {
    expect(defineTool({ ...empty, handler }).annotations).toEqual({
      readOnly: false,
      destructive: false,
      safeInternal: false,
    });
    expect(defineTool({ ...empty, handler, annotations: { readOnly: true } }).annotations.readOnly).toBe(true);
  });

  const dangling = { type: "object", properties: { a: { $ref: "#/$defs/none" } } };
  const raw = { a: z.string() } as unknown as StandardSchema;
  test.each<[string, () => Tool, string, RegExp]>([
    ["an empty name", () => defineTool({ ...empty, name: "", handler }), "invalid_input", /1 to 64 letters/],
    ["a name with a dot", () => defineTool({ ...empty, name: "a.b", handler }), "invalid_input", /"a\.b"/],
    ["a long name", () => defineTool({ ...empty, name: "a".repeat(65), handler }), "invalid_input", /1 to 64/],
    ["no time at all", () => defineTool({ ...empty, timeoutMs: 0, handler }), "invalid_input", /timeoutMs/],
    [
      "a time that no timer can wait",
      () => defineTool({ ...empty, timeoutMs: 2 ** 31, handler }),
      "invalid_input",
      /2147483647/,
    ],
    [
      "half a byte of result",
      () => defineTool({ ...empty, maxResultBytes: 0.5, handler }),
      "invalid_input",
      /maxResultBytes/,
    ],
    [
      "a schema that cannot describe itself",
      () => defineTool({ ...named, input: v.object({}), handler }),
      "invalid_schema",
      /valibot.*inputJsonSchema/,
    ],
    [
      "a schema with a part that JSON Schema cannot say",
      () => defineTool({ ...named, input: z.object({ at: z.date() }), handler }),
      "invalid_schema",
      /Date.*inputJsonSchema/,
    ],
    ["a shape instead of a schema", () => defineTool({ ...named, input: raw, handler }), "invalid_schema", /z\.object/],
    [
      "an input that is no object",
      () => defineTool({ ...named, input: z.string(), handler }),
      "invalid_schema",
      /type "string" at the top/,
    ],
    [
      "a union at the top",
      () => defineTool({ ...named, input: z.union([z.object({ a: z.string() }), z.object({})]), handler }),
      "invalid_schema",
      /anyOf at the top/,
    ],
    [
      "a union beside the type",
      () => defineTool({ ...empty, inputJsonSchema: { type: "object", oneOf: [noteSchema] }, handler }),
      "invalid_schema",
      /oneOf at the top/,
    ],
    [
      "a JSON Schema with a dangling reference",
      () => defineTool({ ...empty, inputJsonSchema: dangling, handler }),
      "invalid_schema",
      /properties\/a\/\$ref/,
    ],
  ])("is refused with %s", (_what, define, code, message) => {
    expect(define).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });
});

describe("types", () => {
  test("the handler gets the schema's output and render gets the handler's data", () => {
    defineTool({
      ...named,
      input: z.object({ n: z.string().transform(Number) }),
      handler: (input, context) => {
        expectTypeOf(input).toEqualTypeOf<{ n: number }>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
        return { data: { sum: input.n } };
      },
      render: (data) => {
        expectTypeOf(data).toEqualTypeOf<{ sum: number }>();
        return `${data.sum}`;
      },
    });
    defineTool({
      ...named,
      input: v.object({ note: v.optional(v.string(), "") }),
      inputJsonSchema: noteSchema,
      handler: async ({ note }) => {
        expectTypeOf(note).toEqualTypeOf<string>();
        return [{ type: "text", text: note }];
      },
    });
  });

  test("every Standard Schema fits", () => {
    expectTypeOf<StandardSchemaV1<string, number>>().toExtend<StandardSchema<string, number>>();
    expectTypeOf<z.ZodObject>().toExtend<StandardSchema>();
  });

  test("a handler must return one of the shapes", () => {
    // @ts-expect-error nothing is no reply
    defineTool({ ...empty, handler: () => undefined });
    // @ts-expect-error a value of the handler's own belongs under `data`
    defineTool({ ...empty, handler: () => ({ answer: 42 }) });
  });
});
