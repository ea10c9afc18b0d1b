import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ToolOutcome } from "../../src/core/ports/tool.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { modelText, toolContext } from "../support/tool-context.ts";

const empty = { name: "probe", description: "A probe.", input: z.object({}) };
const png = "iVBORw0KGgo=";
const image = { type: "image" as const, source: { type: "base64" as const, data: png, media_type: "image/png" } };
const resource = (uri: string, data: string): ToolOutcome["content"][number] => ({
  type: "document",
  source: { type: "text", data, media_type: "text/plain" },
  title: uri,
});
const text = (value: string): ToolOutcome["content"][number] => ({ type: "text", text: value });

/** A handler as JavaScript might write it. */
const wild = (reply: unknown) => () => reply as string;

const sized = (size: number): Promise<ToolOutcome> =>
  defineTool({ ...empty, handler: () => "x".repeat(size) }).run({}, toolContext());

describe("a result", () => {
  test.each<[string, Parameters<typeof defineTool>[0]["handler"], ToolOutcome["content"]]>([
    ["a string", () => "hello", [text("hello")]],
    ["a promise of a string", async () => "hello", [text("hello")]],
    ["an empty string", () => "", []],
    ["no blocks", () => [], []],
    ["blocks", () => [{ type: "text", text: "a" }, image], [text("a"), image]],
    ["a text part", () => ({ text: "hello" }), [text("hello")]],
    ["data", () => ({ data: { sum: 3, list: [1, null] } }), [text('{"sum":3,"list":[1,null]}')]],
    ["null as data", () => ({ data: null }), [text("null")]],
    ["an image", () => ({ images: [{ data: png, mediaType: "image/png" }] }), [image]],
    ["a resource", () => ({ resources: [{ uri: "note://1", text: "n" }] }), [resource("note://1", "n")]],
    [
      "all parts, in their order",
      () => ({
        images: [{ data: png, mediaType: "image/png" }],
        resources: [{ uri: "note://1", text: "n" }],
        data: 1,
        text: "t",
      }),
      [text("t"), text("1"), resource("note://1", "n"), image],
    ],
    ["half a character", () => "a\ud800b", [text("a\ufffdb")]],
  ])("may be %s", async (_what, handler, content) => {
    expect(await defineTool({ ...empty, handler }).run({}, toolContext())).toEqual({ isError: false, content });
  });

  test("with data is told in the words of render", async () => {
    const tool = defineTool({
      ...empty,
      handler: () => ({ data: { sum: 3 } }),
      render: ({ sum }) => `The sum is ${sum}.`,
    });
    expect(modelText(await tool.run({}, toolContext()))).toBe("The sum is 3.");
  });

  const circular: { self?: unknown } = {};
  circular.self = circular;
  test.each<[string, () => string, RegExp]>([
    ["nothing", wild(undefined), /it is undefined\. Return a string/],
    ["null", wild(null), /it is null/],
    ["a number", wild(5), /it is number/],
    ["a function", wild(() => "x"), /it is function/],
    [
      "an object of its own",
      wild({ answer: 42 }),
      /"answer" is not one of text, data, resources, images.*\{ data: … \}/,
    ],
    ["an object without a part", wild({}), /no part/],
    ["circular data", wild({ data: circular }), /circular/],
    ["a function as data", wild({ data: () => 1 }), /data is a function, which JSON cannot represent/],
    ["a bigint as data", wild({ data: 1n }), /BigInt/],
    ["a number as text", wild({ text: 5 }), /block 0 \(text\).*text: .*string/],
    ["images that are no list", wild({ images: { data: png } }), /lists/],
    ["an image without a type", wild({ images: [{ data: png }] }), /block 0 \(image\).*media_type/],
    [
      "an image in a data URL",
      wild({ images: [{ data: `data:image/png;base64,${png}`, mediaType: "image/png" }] }),
      /not base64/,
    ],
    ["a resource without text", wild({ resources: [{ uri: "note://1" }] }), /block 0 \(document\)/],
    ["a block of another type", wild([{ type: "text", text: "a" }, { type: "video" }]), /block 1 is not a block/],
    ["a list of strings", wild(["a"]), /block 0 is not a block/],
    ["a block with a wrong source", wild([{ type: "image", source: { type: "path" } }]), /block 0 \(image\)/],
  ])("of %s is a failure that says what to return", async (_what, handler, message) => {
    const outcome = await defineTool({ ...empty, handler }).run({}, toolContext());
    expect(outcome.isError).toBe(true);
    expect(modelText(outcome)).toMatch(/^Tool probe ran, but its result cannot be passed on: /);
    expect(modelText(outcome)).toMatch(message);
    expect(outcome.detail).toContain("The handler returned: ");
  });

  test("that render cannot tell is a failure with the data in the detail", async () => {
    const tool = defineTool({
      ...empty,
      handler: () => ({ data: { secretShape: 1 } }),
      render: () => {
        throw new Error("no words");
      },
    });
    const outcome = await tool.run({}, toolContext());
    expect(modelText(outcome)).toBe("Tool probe ran, but its result cannot be passed on: no words");
    expect(outcome.detail).toContain("secretShape");
  });
});

describe("a long result", () => {
  test.each<[string, number, string[], string]>([
    ["within one block", 4, ["abcdef"], "abcd"],
    ["between characters", 4, ["aéíó"], "aé"],
    ["between blocks", 6, ["abcd", "efgh", "ijkl"], "abcd\nef"],
    ["without leaving an empty block", 4, ["abcd", "efgh"], "abcd"],
    ["in bytes, not in letters", 7, ["€€€"], "€€"],
    ["without filling the gap from a later block", 4, ["aé€", "x"], "aé"],
  ])("is cut %s, with a note, and kept whole in the detail", async (_what, maxResultBytes, texts, shown) => {
    const tool = defineTool({
      ...empty,
      maxResultBytes,
      handler: () => texts.map((text) => ({ type: "text", text }) as const),
    });
    const bytes = Buffer.byteLength(texts.join(""));
    const outcome = await tool.run({}, toolContext());
    expect(outcome).toMatchObject({ isError: false, detail: texts.join("\n") });
    expect(modelText(outcome)).toBe(
      `${shown}\n[Cut here: this result has ${bytes} bytes of text, and only the first ${maxResultBytes} are shown.]`,
    );
  });

  test("counts the text of resources and keeps images whole", async () => {
    const data = "A".repeat(400);
    const tool = defineTool({
      ...empty,
      maxResultBytes: 10,
      handler: () => ({
        resources: [{ uri: "note://1", text: "0123456789abc" }],
        images: [{ data, mediaType: "image/png" }],
      }),
    });
    const { content } = await tool.run({}, toolContext());
    expect(content).toMatchObject([
      { type: "document", source: { data: "0123456789" } },
      { type: "image", source: { data } },
      { type: "text", text: expect.stringContaining("13 bytes") },
    ]);
  });

  test("may have 256 KiB unless the tool says otherwise", async () => {
    expect((await sized(256 * 1024)).detail).toBeUndefined();
    expect((await sized(256 * 1024 + 1)).detail).toHaveLength(256 * 1024 + 1);
  });

  test("of an error is cut too, and the stack stays in the detail", async () => {
    const tool = defineTool({
      ...empty,
      maxResultBytes: 30,
      handler: () => {
        throw new Error("x".repeat(100));
      },
    });
    const outcome = await tool.run({}, toolContext());
    expect(modelText(outcome)).toContain("[Cut here");
    expect(outcome.detail).toContain("tool-result.test.ts");
  });
});
