import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { loadFunctions } from "../../src/tools/function-modules.ts";
import { temporaryDirectory } from "../support/host.ts";
import { toolContext } from "../support/tool-context.ts";

const DEFINE_TOOL = JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../src/tools/define-tool.ts")).href);
const ZOD = JSON.stringify(import.meta.resolve("zod"));

function moduleOf(text: string, name = "functions.mjs"): Disposable & { readonly module: string } {
  const directory = temporaryDirectory();
  const module = join(directory.path, name);
  writeFileSync(module, text);
  return { module, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

const ORDER = `{ description: "Looks up an order.",
  input: { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false },
  handler: ({ id }) => "order " + id }`;

describe("the exports of a function module", () => {
  test("become tools under their names; helpers beside them do not", async () => {
    using file = moduleOf(`export const helper = () => 1; export const LIMIT = 3; export const order = ${ORDER};`);
    const [tool, ...others] = await loadFunctions([{ module: file.module }]);
    expect(others).toEqual([]);
    expect(tool).toMatchObject({ name: "order", description: "Looks up an order.", inputSchema: { required: ["id"] } });
    expect(await tool?.run({ id: "7" }, toolContext())).toMatchObject({ content: [{ text: "order 7" }] });
    expect(await tool?.run({ no: 1 }, toolContext())).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("must have required property 'id'") as string }],
    });
  });

  test("may be what defineTool returns, in TypeScript, and the default export has its own name", async () => {
    using file = moduleOf(
      `import { defineTool } from ${DEFINE_TOOL};
       import { z } from ${ZOD};
       interface Order { readonly id: string }
       export default defineTool({ name: "order", description: "d", input: z.object({ id: z.string() }), handler: ({ id }: Order) => id });`,
      "functions.ts",
    );
    expect(await loadFunctions([{ module: file.module }])).toMatchObject([{ name: "order" }]);
  });

  test("are only those that are asked for, when some are", async () => {
    using file = moduleOf(`export const a = ${ORDER}; export const b = ${ORDER};`);
    expect(await loadFunctions([{ module: file.module, exports: ["b"] }])).toMatchObject([{ name: "b" }]);
  });
});

describe("a module that cannot be used is refused, with its name and that of the export", () => {
  test.each<[string, string, string[] | undefined, RegExp]>([
    ["that throws", `throw new Error("no database")`, undefined, /cannot be loaded: no database/],
    ["that is no program", `export const = 3`, undefined, /cannot be loaded: /],
    ["that exports nothing usable", `export const a = 3`, undefined, /functions\.mjs exports no tool\. A tool is/],
    ["without the export", `export const a = ${ORDER}`, ["b"], /export b does not exist\. The module exports a/],
    ["whose export is none", `export const b = 3`, ["b"], /export b is not a tool/],
    ["with a tool of two names", `export const a = { ...${ORDER}, name: "b" }`, undefined, /export a .*name b/],
    ["with a nameless default", `export default ${ORDER}`, undefined, /export default needs a name/],
    [
      "with a bad schema",
      `export const a = { ...${ORDER}, input: { type: "text" } }`,
      undefined,
      /export a is not usable/,
    ],
    ["without a schema", `export const a = { description: "d", handler() {} }`, undefined, /export a is not usable/],
  ])("%s", async (_what, text, exports, problem) => {
    using file = moduleOf(text);
    const loading = loadFunctions([{ module: file.module, ...(exports && { exports }) }]);
    await expect(loading).rejects.toMatchObject({
      code: "invalid_agent",
      message: expect.stringMatching(problem) as string,
    });
    await expect(loading).rejects.toThrow(file.module);
  });

  test("that is not there", async () => {
    await expect(loadFunctions([{ module: "/nowhere/functions.mjs" }])).rejects.toThrow("/nowhere/functions.mjs");
  });

  test("whose tool another has as well", async () => {
    using one = moduleOf(`export const order = ${ORDER};`);
    using other = moduleOf(`export const order = ${ORDER};`);
    const loading = loadFunctions([{ module: one.module }, { module: other.module }]);
    await expect(loading).rejects.toThrow(
      `two functions are named order: ${one.module}, export order, and ${other.module}`,
    );
  });
});
