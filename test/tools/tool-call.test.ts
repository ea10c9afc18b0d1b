import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ToolContext } from "../../src/core/ports/tool.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { modelText, toolContext } from "../support/tool-context.ts";

const named = { name: "probe", description: "A probe." };
const empty = { ...named, input: z.object({}) };

const never = new Promise<string>(() => {});
const deaf =
  (signals: AbortSignal[]) =>
  (_input: unknown, { signal }: ToolContext) => {
    signals.push(signal);
    return never;
  };
const obedient =
  (signals: AbortSignal[]) =>
  (_input: unknown, { signal }: ToolContext) => {
    signals.push(signal);
    return new Promise<string>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };

describe("a call", () => {
  test("with wrong input names every field and does not reach the handler", async () => {
    let ran = false;
    const tool = defineTool({
      ...named,
      input: z.strictObject({ to: z.email(), items: z.array(z.object({ count: z.int() })) }),
      handler: () => {
        ran = true;
        return "";
      },
    });
    const outcome = await tool.run({ to: "nobody", items: [{ count: 1 }, { count: "two" }], cc: 1 }, toolContext());
    expect(outcome.isError).toBe(true);
    expect(modelText(outcome)).toMatch(/^Tool probe was not run: its input is not valid\.\n/);
    for (const line of ["- to: ", "- items.1.count: ", '- input: Unrecognized key: "cc"'])
      expect(modelText(outcome)).toContain(line);
    expect(ran).toBe(false);
  });

  test("hands its context to the handler", async () => {
    const tool = defineTool({
      ...empty,
      handler: (_input, { signal: _signal, ...context }) => ({ data: context }),
    });
    const { signal: _signal, ...context } = toolContext({ deadline: Date.now() + 60_000, variables: { A: "1" } });
    expect(JSON.parse(modelText(await tool.run({}, toolContext(context))))).toEqual(context);
  });

  const unprintable = Object.defineProperty({ code: 8 }, inspect.custom, {
    value: () => {
      throw new Error("no words");
    },
  });
  const unreadable = new Proxy(
    {},
    {
      getPrototypeOf() {
        throw new Error("trap");
      },
    },
  );
  test.each<[string, unknown, string, string]>([
    ["an error", new Error("disk full"), "Tool probe failed: disk full", "tool-call.test.ts"],
    [
      "an error with a cause",
      new Error("outer", { cause: new Error("inner") }),
      "Tool probe failed: outer",
      "[cause]: Error: inner",
    ],
    ["an error without a message", new TypeError(), "Tool probe failed: TypeError", "tool-call.test.ts"],
    ["a string", "just text", "Tool probe failed: just text", "just text"],
    ["an object", { code: 7 }, "Tool probe failed: { code: 7 }", "{ code: 7 }"],
    ["nothing", undefined, "Tool probe failed: undefined", "undefined"],
    ["an object that fails to print itself", unprintable, "Tool probe failed: { code: 8 }", "{ code: 8 }"],
    ["an object without a prototype", Object.create(null), "Tool probe failed: [Object: null prototype] {}", "null"],
  ])(
    "whose handler throws %s tells the message and keeps the rest for the log",
    async (_what, thrown, message, detail) => {
      const sync = defineTool({
        ...empty,
        handler: () => {
          throw thrown;
        },
      });
      const late = defineTool({ ...empty, handler: () => Promise.reject(thrown) });
      for (const tool of [sync, late]) {
        const outcome = await tool.run({}, toolContext());
        expect(outcome.isError).toBe(true);
        expect(modelText(outcome)).toBe(message);
        expect(outcome.detail).toContain(detail);
      }
    },
  );

  test("whose handler throws what cannot even be looked at still has an outcome", async () => {
    const tool = defineTool({ ...empty, handler: () => Promise.reject(unreadable) });
    expect(modelText(await tool.run({}, toolContext()))).toBe(
      "Tool probe failed with an error that cannot be displayed.",
    );
  });

  test("whose schema throws has an outcome", async () => {
    const tool = defineTool({
      ...named,
      input: z.object({ a: z.string().transform(() => JSON.parse("{")) }),
      handler: () => "",
    });
    expect(modelText(await tool.run({ a: "" }, toolContext()))).toMatch(/^Tool probe failed: .*JSON/);
  });
});

describe("a call that has to stop", () => {
  for (const [manner, handlerOf] of Object.entries({ "does not listen": deaf, obeys: obedient })) {
    test(`after its own time aborts the signal and says so, when the handler ${manner}`, async () => {
      const signals: AbortSignal[] = [];
      const tool = defineTool({ ...empty, timeoutMs: 5, handler: handlerOf(signals) });
      const outcome = await tool.run({}, toolContext({ deadline: Date.now() + 60_000 }));
      expect(outcome.isError).toBe(true);
      expect(modelText(outcome)).toBe(
        "Tool probe was stopped: it took longer than 5 ms. What it did until then is not undone.",
      );
      expect(signals[0]?.reason).toMatchObject({ code: "tool_failed", message: "it took longer than 5 ms." });
    });

    test(`at the turn's deadline aborts the signal and says so, when the handler ${manner}`, async () => {
      const signals: AbortSignal[] = [];
      const tool = defineTool({ ...empty, handler: handlerOf(signals) });
      const outcome = await tool.run({}, toolContext({ deadline: Date.now() + 500 }));
      expect(modelText(outcome)).toMatch(/^Tool probe was stopped: the turn's deadline was reached\./);
      expect(signals[0]?.aborted).toBe(true);
    });

    test(`because the caller aborts passes the reason on, when the handler ${manner}`, async () => {
      const signals: AbortSignal[] = [];
      const caller = new AbortController();
      const tool = defineTool({
        ...empty,
        handler: (input, context) => {
          queueMicrotask(() => caller.abort("enough"));
          return handlerOf(signals)(input, context);
        },
      });
      const outcome = await tool.run({}, toolContext({ signal: caller.signal }));
      expect(modelText(outcome)).toMatch(/^Tool probe was stopped: the call was aborted\./);
      expect(signals[0]?.reason).toBe("enough");
    });
  }

  test.each<[string, Partial<ToolContext>, string]>([
    ["was aborted", { signal: AbortSignal.abort() }, "Tool probe was not run: the call was aborted."],
    ["came after the deadline", { deadline: 1 }, "Tool probe was not run: the turn's deadline was reached."],
  ])("before it began, because it %s, does not reach the handler", async (_what, overrides, message) => {
    let ran = false;
    const tool = defineTool({
      ...empty,
      handler: () => {
        ran = true;
        return "";
      },
    });
    const outcome = await tool.run({}, toolContext(overrides));
    expect(outcome).toEqual({ isError: true, content: [{ type: "text", text: message }] });
    expect(ran).toBe(false);
  });

  test("while its input is still being checked has an outcome", async () => {
    const tool = defineTool({
      ...named,
      input: z.object({ a: z.string().refine(() => new Promise<boolean>(() => {})) }),
      timeoutMs: 5,
      handler: () => "",
    });
    expect(modelText(await tool.run({ a: "" }, toolContext()))).toContain("longer than 5 ms");
  });

  test("with a deadline further away than any timer waits runs as usual", async () => {
    const tool = defineTool({ ...empty, handler: () => "done" });
    expect(modelText(await tool.run({}, toolContext({ deadline: Number.MAX_SAFE_INTEGER })))).toBe("done");
  });

  test("leaves no listener on the caller's signal once it has ended", async () => {
    const { signal } = new AbortController();
    const tool = defineTool({ ...empty, handler: () => "done" });
    await tool.run({}, toolContext({ signal }));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
