import { describe, expect, test } from "vitest";
import { clock } from "../../src/app/clock.ts";
import { promptAnswer, toolAnswer } from "../../src/core/agent/hook-answers.ts";
import type { BeforeTool, SessionHooks } from "../../src/core/ports/hooks.ts";
import type { HookCommandEnd } from "../../src/core/ports/hooks.ts";
import { askHooks, type Hook, hookMatchers, listHooks } from "../../src/runtime/hooks/hooks-list.ts";
import { judgeRun, runHook } from "../../src/runtime/hooks/hooks-run.ts";

const ended = (end: Partial<HookCommandEnd>): HookCommandEnd => ({ exitCode: 0, stdout: "", stderr: "", ...end });
const given = { surroundings: () => ({ cwd: "/work", stateDir: "/state" }), programs: { listChanged: () => [] } };
const ask = (end: Partial<HookCommandEnd> = {}) => askHooks({ ...given, run: async () => ended(end) });

/** The first hook of a kind that these make. */
function hook(functions: SessionHooks, kind: keyof ReturnType<typeof listHooks> = "before_tool"): Hook {
  const [first] = listHooks({ commands: undefined, functions })[kind];
  if (first === undefined) throw new Error("There is no such hook.");
  return first;
}
const command = (onFailure?: "deny" | "continue"): Hook => {
  const [first] = listHooks({
    commands: { before_tool: [{ command: "x", ...(onFailure && { on_failure: onFailure }) }] },
    functions: undefined,
  }).before_tool;
  if (first === undefined) throw new Error("There is no such hook.");
  return first;
};
const open = (): AbortSignal => new AbortController().signal;

const answering = (answer: unknown) =>
  runHook(
    hook({ beforeTool: (() => answer) as BeforeTool }),
    {},
    { ask: ask(), signal: open(), clock, schema: toolAnswer },
  );
const ending = (end: Partial<HookCommandEnd>) =>
  runHook(command(), {}, { ask: ask(end), signal: open(), clock, schema: toolAnswer });
const throwing: BeforeTool = () => {
  throw new Error("The list of rules is gone.");
};

describe("what a function answers", () => {
  test.each<[string, unknown, unknown]>([
    ["nothing", undefined, undefined],
    ["an object without fields", {}, {}],
    ["a denial", { deny: "No." }, { deny: "No." }],
    ["an input", { input: { a: [1] } }, { input: { a: [1] } }],
    ["an input with what JSON has no word for", { input: { a: undefined, b: 1 } }, { input: { b: 1 } }],
  ])("may be %s", async (_what, answer, read) => {
    expect(await answering(answer)).toMatchObject({ answer: read, failure: undefined });
  });

  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  test.each<[string, unknown]>([
    ["true", true],
    ["null", null],
    ["a text", "allow"],
    ["a list", []],
    ["a permission", { allow: true }],
    ["a permission in the SDK's words", { permissionDecision: "allow" }],
    ["a permission beside an input", { input: {}, behavior: "allow" }],
    ["a denial without a reason", { deny: true }],
    ["an input that is a text", { input: "rm -rf /" }],
    ["an input that is a list", { input: ["rm"] }],
    ["an input that is null", { input: null }],
    ["an input that is a map", { input: new Map([["command", "ls"]]) }],
    ["an input without end", { input: cycle }],
    ["a number that JSON cannot count", { input: { n: 1n } }],
    ["an error", new Error("oops")],
    ["a map", new Map()],
    ["a function", () => ({})],
  ])("is a failure when it is %s", async (_what, answer) => {
    const run = await answering(answer);
    expect(run).toMatchObject({ answer: undefined, failure: expect.any(String) });
    expect(judgeRun(command(), run, { isChange: false })).toMatchObject({
      outcome: "failed",
      denial: expect.any(String),
    });
    expect(judgeRun(command("continue"), run, { isChange: false })).not.toHaveProperty("denial");
  });

  test("cannot be given by changing the facts", async () => {
    const facts = { input: { command: "ls" } };
    const beforeTool = ((given: { input: { command: string } }) => {
      given.input.command = "rm -rf /";
    }) as unknown as BeforeTool;
    await runHook(hook({ beforeTool }), facts, { ask: ask(), signal: open(), clock, schema: toolAnswer });
    expect(facts.input.command).toBe("ls");
  });

  test("to a message may be text, more text or a whole message, and nothing else", () => {
    for (const answer of [{ text: "a" }, { add: "a" }, { content: [{ type: "text", text: "a" }] }, { deny: "a" }, {}])
      expect(promptAnswer.safeParse(answer).success).toBe(true);
    for (const answer of [{ text: "a", add: "b" }, { content: "a" }, { input: {} }, { text: 1 }])
      expect(promptAnswer.safeParse(answer).success).toBe(false);
  });
});

describe("a run", () => {
  test("of a hook that throws fails with its words", async () => {
    const run = await runHook(
      hook({ beforeTool: throwing }),
      {},
      { ask: ask(), signal: open(), clock, schema: toolAnswer },
    );
    expect(run).toMatchObject({ answer: undefined, failure: "The list of rules is gone." });
  });

  test("that nobody waits for any more is not begun", async () => {
    let begun = false;
    const beforeTool: BeforeTool = () => void (begun = true);
    const run = await runHook(hook({ beforeTool }), {}, { ask: ask(), signal: AbortSignal.abort(), clock });
    expect(run.failure).toMatch(/stopped/);
    expect(begun).toBe(false);
  });

  test("looks at no answer of a hook after the fact", async () => {
    const run = await runHook(hook({ onTurnEnd: () => 5 }, "on_turn_end"), {}, { ask: ask(), signal: open(), clock });
    expect(run).toMatchObject({ answer: undefined, failure: undefined });
  });
});

describe("how a command ends", () => {
  test("says what it answers", async () => {
    expect(await ending({})).toMatchObject({ answer: undefined, failure: undefined });
    expect(await ending({ stdout: ' {"input":{"a":1}}\n' })).toMatchObject({ answer: { input: { a: 1 } } });
    const denied = await ending({ exitCode: 2, stderr: "No.\n" });
    expect(judgeRun(command("continue"), denied, { isChange: false })).toMatchObject({
      outcome: "denied",
      denial: "No.",
    });
    const silent = await ending({ exitCode: 2 });
    expect(judgeRun(command(), silent, { isChange: false }).denial).toBe("The hook before_tool 1 denied this.");
  });

  test.each<[string, Partial<HookCommandEnd>, RegExp]>([
    ["another exit code", { exitCode: 1, stderr: "oops" }, /exited with code 1: oops/],
    ["a signal", { exitCode: null }, /signal/],
    ["words that are not JSON", { stdout: "fine" }, /not JSON/],
    ["JSON that is no object", { stdout: "true" }, /invalid answer/],
    ["a permission", { stdout: '{"allow":true}' }, /invalid answer/],
    ["an answer and a failure", { exitCode: 1, stdout: "{}" }, /exited with code 1/],
  ])("is a failure with %s", async (_what, end, failure) => {
    expect(await ending(end)).toMatchObject({ answer: undefined, failure: expect.stringMatching(failure) });
  });

  test("after the fact can only fail", async () => {
    const [after] = listHooks({ commands: { after_tool: [{ command: "x" }] }, functions: undefined }).after_tool;
    const options = { signal: open(), clock };
    expect(await runHook(after as Hook, {}, { ...options, ask: ask({ stdout: "done" }) })).toMatchObject({
      failure: undefined,
    });
    expect(await runHook(after as Hook, {}, { ...options, ask: ask({ exitCode: 2, stderr: "no" }) })).toMatchObject({
      failure: expect.stringContaining("no"),
    });
  });

  test("its facts are written as in a file", async () => {
    let read: unknown;
    const asking = askHooks({
      ...given,
      run: async (_command, { stdin }) => {
        read = JSON.parse(stdin);
        return ended({});
      },
    });
    await runHook(command(), { sessionId: "sesn_1", input: { fileName: 1 } }, { ask: asking, signal: open(), clock });
    expect(read).toEqual({ hook: "before_tool", session_id: "sesn_1", input: { fileName: 1 } });
  });
});

describe("the hooks of a session", () => {
  test("are the agent's, then the program's, each with a name", () => {
    const lists = listHooks({
      commands: { before_tool: [{ command: "a" }, { name: "second", command: ["b"] }] },
      functions: { beforeTool: [() => undefined, { name: "fourth", run: () => undefined }] },
    });
    expect(lists.before_tool.map(({ name }) => name)).toEqual(["before_tool 1", "second", "before_tool 3", "fourth"]);
    expect(lists.before_tool.every(({ onFailure, timeoutMs }) => onFailure === "deny" && timeoutMs === 60_000)).toBe(
      true,
    );
    expect(hookMatchers({ before_tool: [{ command: "a", matcher: "Bash" }] }, undefined)).toEqual(["Bash"]);
  });

  test.each<[string, unknown, RegExp]>([
    ["a name that no hook has", { beforeTools: () => undefined }, /Unknown hook beforeTools/],
    ["no function", { beforeTool: "ls" }, /beforeTool: /],
    ["options without a function", { beforeTool: [{ name: "a" }] }, /beforeTool\.0\.run: expected a function/],
    ["an unknown option", { beforeTool: { run: () => undefined, timeout: 1 } }, /"timeout"/],
    ["no time at all", { beforeTool: { run: () => undefined, timeoutMs: 0 } }, /timeoutMs/],
    ["a malformed matcher", { beforeTool: { run: () => undefined, matcher: "Bash(" } }, /closing parenthesis/],
    ["a matcher where there is no call", { onTurnEnd: { run: () => undefined, matcher: "Bash" } }, /only tool hooks/],
    ["a failure that denies the past", { afterTool: { run: () => undefined, onFailure: "deny" } }, /cannot deny/],
  ])("with %s are refused", (_what, functions, problem) => {
    expect(() => listHooks({ commands: undefined, functions: functions as SessionHooks })).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(problem) }),
    );
  });
});
