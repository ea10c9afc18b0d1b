import { describe, expect, test } from "vitest";
import type { TurnEnd } from "../../src/core/ports/engine.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { factsOf, type Message, recording, translator } from "./recordings.ts";

/** How each turn of a recording ended. */
function endsOf(messages: readonly Message[], given?: Parameters<typeof translator>[0]): TurnEnd[] {
  return factsOf(messages, translator(given)).flatMap((fact) => (fact.kind === "turn_ended" ? [fact.end] : []));
}

function endOf(name: string, given?: Parameters<typeof translator>[0]): TurnEnd {
  const [end] = endsOf(recording("results", name), given);
  if (end === undefined) throw new Error(`the turn of "${name}" does not end`);
  return end;
}

describe("a turn", () => {
  test.each<[string, readonly Message[], readonly TurnEnd["outcome"][]]>([
    ["that was answered is completed", recording("turns", "tools"), ["completed", "completed"]],
    ["of as many steps as it may have ends at that limit", recording("results", "steps"), ["steps"]],
    ["that spent what it may spend ends at that limit", recording("results", "budget"), ["budget"]],
    [
      "that is interrupted in text ends so, the next does not",
      recording("streams", "interrupted in text"),
      ["interrupted", "completed"],
    ],
    ["that is interrupted in thinking ends so", recording("streams", "interrupted in thinking"), ["interrupted"]],
    [
      "that is interrupted in a tool ends so, the next does not",
      recording("streams", "interrupted in a tool"),
      ["interrupted", "completed"],
    ],
    ["that is interrupted in a subagent ends so", recording("subagents", "one that is interrupted"), ["interrupted"]],
    ["that the model refused ends so, the next does not", recording("turns", "a refusal"), ["refused", "completed"]],
    ["that failed at the API is failed", recording("results", "api-500"), ["failed"]],
    ["that succeeded after retries is completed", recording("turns", "retries"), ["completed"]],
  ])("%s", (_what, messages, outcomes) => {
    const ends = endsOf(messages);
    expect(ends.map(({ outcome }) => outcome)).toEqual(outcomes);
    for (const { outcome, error } of ends) expect(error === undefined).toBe(outcome !== "failed");
  });

  test("of a refusal is refused also when only the result says so", () => {
    const [, , result] = recording("results", "refusal");
    expect(endsOf([result as Message])).toMatchObject([{ outcome: "refused" }]);
  });

  interface Failure {
    readonly name: string;
    readonly code: ErrorCode;
    readonly status: number | null;
    readonly said: string;
  }
  test.each<Failure>([
    { name: "api-400", code: "model_failed", status: 400, said: "told 400" },
    { name: "api-401", code: "credential_rejected", status: 401, said: "told 401" },
    { name: "api-403", code: "credential_rejected", status: 403, said: "told 403" },
    { name: "api-404", code: "model_unknown", status: 404, said: "(claude-opus-4-8)" },
    { name: "api-413", code: "model_failed", status: 413, said: "too large" },
    { name: "api-429", code: "model_failed", status: 429, said: "told 429" },
    { name: "api-500", code: "model_failed", status: 500, said: "told 500" },
    { name: "api-529", code: "model_failed", status: 529, said: "told 529" },
    { name: "api-credit", code: "credential_rejected", status: 400, said: "Credit balance is too low" },
    { name: "max-tokens", code: "model_failed", status: null, said: "output token maximum" },
  ])("that ends with $name says $code, what to do and what the API said", ({ name, code, status, said }) => {
    const { outcome, error } = endOf(name);
    expect(outcome).toBe("failed");
    expect(error).toMatchObject({ code, data: { status } });
    expect(error?.message).toMatch(/^The .+\. It said: /);
    expect(error?.message).toContain(said);
  });

  test.each(["api-429", "api-500", "api-529"])("that ends with %s may be tried again as it is", (name) => {
    expect(endOf(name).error?.retryable).toBe(true);
  });

  test.each(["api-401", "api-403", "api-404", "api-credit", "no-conversation", "output-invalid"])(
    "that ends with %s may not be tried again as it is",
    (name) => {
      expect(endOf(name).error?.retryable).toBe(false);
    },
  );

  test("that the loop itself could not run says why", () => {
    expect(endOf("no-conversation").error).toMatchObject({
      code: "engine_failed",
      message: expect.stringContaining("No conversation found with session ID") as string,
    });
  });

  test("does not carry the words of one failure into the next", () => {
    const [said, result] = recording("results", "api-401");
    const [, other] = recording("results", "api-500");
    const [first, second] = endsOf([said, result, other] as Message[]);
    expect(first?.error?.code).toBe("credential_rejected");
    expect(second?.error?.code).toBe("model_failed");
    expect(second?.error?.message).not.toContain("401");
  });
});

describe("structured output", () => {
  test("is the turn's", () => {
    expect(endOf("output", { wantsOutput: true })).toMatchObject({ outcome: "completed", output: { city: "Bergen" } });
  });

  test("that is missing fails the turn, but only where it was asked for", () => {
    expect(endOf("output-missing", { wantsOutput: true })).toMatchObject({
      outcome: "failed",
      error: { code: "output_invalid" },
    });
    expect(endOf("output-missing")).toMatchObject({ outcome: "completed", output: undefined });
  });

  test("that never matched fails the turn", () => {
    expect(endOf("output-invalid", { wantsOutput: true }).error).toMatchObject({ code: "output_invalid" });
  });

  test("is not missed in a turn that was interrupted or refused", () => {
    const interrupted = recording("streams", "interrupted in thinking");
    const outcomes = [...interrupted, ...recording("results", "refusal").slice(0, 3)];
    expect(endsOf(outcomes, { wantsOutput: true }).map(({ outcome }) => outcome)).toEqual(["interrupted", "refused"]);
  });
});

const zero = { inputTokens: 0, outputTokens: 0, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, costUSD: 0 };

function resultWith(modelUsage: Record<string, object>): Message {
  return { ...recording("results", "steps")[0], modelUsage } as Message;
}

describe("usage", () => {
  test("of a turn is what the cumulative figures grew by", () => {
    const ends = endsOf(recording("compaction", "on request"));
    const figures = ends.map(({ usage }) => usage["claude-opus-4-8"]);
    expect(figures).toEqual([
      { input_tokens: 317, output_tokens: 19, usd: 0.00206 },
      { input_tokens: 323, output_tokens: 19, usd: expect.closeTo(0.00209, 10) as number },
      { input_tokens: 3926, output_tokens: 46, usd: expect.closeTo(0.02078, 10) as number },
      { input_tokens: 680, output_tokens: 19, usd: expect.closeTo(0.003875, 10) as number },
    ]);
  });

  test("adds up to the last cumulative figure", () => {
    const messages = recording("subagents", "two and a nested one, then one again");
    const spent = endsOf(messages).reduce((sum, { usage }) => sum + (usage["claude-opus-4-8"]?.usd ?? 0), 0);
    const last = messages.findLast((message) => message.type === "result");
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeCloseTo(last?.total_cost_usd ?? 0, 10);
  });

  test("after a resume starts at the total of the process before", () => {
    const totals = { "claude-opus-4-8": { ...zero, inputTokens: 948, outputTokens: 60, costUSD: 0.0062 } };
    expect(endOf("steps", { totals }).usage).toEqual({
      "claude-opus-4-8": { input_tokens: 0, output_tokens: 2, usd: expect.closeTo(0.00009, 10) as number },
    });
  });

  test("counts input from the cache as input", () => {
    const total = { ...zero, inputTokens: 1, cacheReadInputTokens: 20, cacheCreationInputTokens: 300, costUSD: 1 };
    expect(endsOf([resultWith({ m: total })])).toMatchObject([
      { usage: { m: { input_tokens: 321, output_tokens: 0, usd: 1 } } },
    ]);
  });

  test("is told for each model, and not for one that did nothing since", () => {
    const [opus, haiku] = ["claude-opus-4-8", "claude-haiku-4-5"];
    const ends = endsOf(recording("turns", "a change of model"));
    expect(ends.map(({ usage }) => Object.keys(usage))).toEqual([[opus], [haiku], [haiku]]);
  });

  test("of an interrupted request is not counted by the CLI, and a model it leaves out keeps its total", () => {
    const before = { ...zero, inputTokens: 10, outputTokens: 1, costUSD: 1 };
    const after = { ...before, inputTokens: 15, costUSD: 2 };
    const ends = endsOf([resultWith({ m: before }), resultWith({}), resultWith({ m: after })]);
    expect(ends.map(({ usage }) => usage)).toEqual([
      { m: { input_tokens: 10, output_tokens: 1, usd: 1 } },
      {},
      { m: { input_tokens: 5, output_tokens: 0, usd: 1 } },
    ]);
  });
});
