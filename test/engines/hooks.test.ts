import type { HookJSONOutput, PreToolUseHookInput } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { CallDecision, CallRequest, EngineHost } from "../../src/core/ports/engine.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import { gate } from "../../src/engines/claude/hooks.ts";
import { defineTool } from "../../src/tools/define-tool.ts";

const note = defineTool({
  name: "note",
  description: "Notes.",
  input: z.object({ text: z.string() }),
  annotations: { readOnly: true, safeInternal: true },
  handler: () => "noted",
});

interface Given {
  readonly decide?: (call: CallRequest, signal: AbortSignal) => Promise<CallDecision>;
  readonly announced?: (callId: string, signal: AbortSignal) => Promise<void>;
  readonly tools?: readonly Tool[];
  readonly signal?: AbortSignal;
  readonly input?: Partial<PreToolUseHookInput>;
}

function failUnasked(): never {
  throw new Error("the gate only prepares calls");
}

/** Asks the gate about one call, and tells what it asked the host. */
async function ask(given: Given): Promise<{ answer: HookJSONOutput; asked: readonly CallRequest[] }> {
  const asked: CallRequest[] = [];
  const decide = given.decide ?? (async () => ({ behavior: "allow" as const }));
  const host: EngineHost = {
    newEventId: failUnasked,
    emit: failUnasked,
    execute: failUnasked,
    elicit: failUnasked,
    prepare: (call, signal) => {
      asked.push(call);
      return decide(call, signal);
    },
  };
  const hooks = gate(host, {
    tools: given.tools ?? [note],
    waitForAnnouncement: given.announced ?? (async () => {}),
    oneCall: false,
  });
  const [hook] = hooks?.PreToolUse?.flatMap((matcher) => matcher.hooks) ?? [];
  if (hook === undefined) throw new Error("there is no hook");
  const input: PreToolUseHookInput = {
    hook_event_name: "PreToolUse",
    session_id: "s",
    transcript_path: "",
    cwd: "/workspace",
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_use_id: "toolu_1",
    ...given.input,
  };
  const signal = given.signal ?? new AbortController().signal;
  return { answer: await hook(input, input.tool_use_id, { signal }), asked };
}

function decisionOf(answer: HookJSONOutput): unknown {
  return (answer as { hookSpecificOutput?: unknown }).hookSpecificOutput;
}

const denied = (reason: string): object => ({
  hookEventName: "PreToolUse",
  permissionDecision: "deny",
  permissionDecisionReason: expect.stringContaining(reason) as string,
});

describe("the gate", () => {
  test("lets a call pass that the host allows, as it is", async () => {
    const { answer } = await ask({});
    expect(decisionOf(answer)).toEqual({
      hookEventName: "PreToolUse",
      permissionDecision: "allow",
      permissionDecisionReason: "",
    });
  });

  test("runs a call with the input that the host put in place of the model's", async () => {
    const { answer } = await ask({ decide: async () => ({ behavior: "allow", input: { command: "true" } }) });
    expect(decisionOf(answer)).toMatchObject({ permissionDecision: "allow", updatedInput: { command: "true" } });
  });

  test("tells the model why a call was denied", async () => {
    const { answer } = await ask({ decide: async () => ({ behavior: "deny", message: "A rule denies Bash." }) });
    expect(decisionOf(answer)).toEqual(denied("A rule denies Bash."));
  });

  test("asks the host only when the call is in the log", async () => {
    const order: string[] = [];
    const logged = Promise.withResolvers<void>();
    const answered = ask({
      announced: async (callId) => {
        order.push(`waits for ${callId}`);
        await logged.promise;
      },
      decide: async () => {
        order.push("asked");
        return { behavior: "allow" };
      },
    });
    await Promise.resolve();
    order.push("logged");
    logged.resolve();
    await answered;
    expect(order).toEqual(["waits for toolu_1", "logged", "asked"]);
  });

  test("denies when the host fails to decide", async () => {
    const { answer } = await ask({ decide: () => Promise.reject(new Error("the store is full")) });
    expect(decisionOf(answer)).toEqual(denied("the store is full"));
  });

  test("denies when the host throws something that is no error", async () => {
    const { answer } = await ask({
      decide: () => {
        throw Object.create(null);
      },
    });
    expect(decisionOf(answer)).toEqual(denied("Permission could not be decided"));
  });

  test("denies, without asking, a call that was never announced", async () => {
    const { answer, asked } = await ask({ announced: () => Promise.reject(new Error("the call was canceled")) });
    expect(decisionOf(answer)).toEqual(denied("the call was canceled"));
    expect(asked).toEqual([]);
  });

  test("passes the CLI's signal on, so that a question to a person ends with the call", async () => {
    const stop = new AbortController();
    const seen: AbortSignal[] = [];
    await ask({
      signal: stop.signal,
      announced: async (_callId, signal) => void seen.push(signal),
      decide: async (_call, signal) => {
        seen.push(signal);
        return { behavior: "allow" };
      },
    });
    expect(seen).toEqual([stop.signal, stop.signal]);
  });

  test("blocks the call when the hook itself fails, and waits for a person as long as a timer can", () => {
    const hooks = gate({} as EngineHost, { tools: [], waitForAnnouncement: async () => {}, oneCall: false });
    expect(hooks?.PreToolUse).toMatchObject([{ onFailure: "block", timeout: 2_147_483 }]);
    expect(hooks?.PreToolUse?.[0]?.matcher).toBeUndefined();
  });
});

describe("the host is asked about", () => {
  const acts = { readOnly: false, edit: false, safeInternal: false };

  test.each([
    ["Read", { tool: "Read", traits: { ...acts, readOnly: true } }],
    ["Write", { tool: "Write", traits: { ...acts, edit: true } }],
    ["Bash", { tool: "Bash", traits: acts }],
    ["Agent", { tool: "Agent", traits: { ...acts, readOnly: true, safeInternal: true } }],
    ["StructuredOutput", { tool: "StructuredOutput", traits: { ...acts, readOnly: true, safeInternal: true } }],
    ["SomethingNew", { tool: "SomethingNew", traits: acts }],
    ["mcp__capstan__note", { tool: "note", traits: { readOnly: true, edit: false, safeInternal: true } }],
    ["mcp__capstan__missing", { tool: "missing", traits: acts }],
    ["mcp__files__note", { tool: "mcp__files__note", traits: acts }],
  ])("%s by its name and what it can do", async (name, expected) => {
    const { asked } = await ask({ input: { tool_name: name } });
    expect(asked).toMatchObject([expected]);
  });

  test("a tool of the CLI's that bears the name of a tool of the host's as the CLI's", async () => {
    const bash = defineTool({ ...noteLike, name: "Bash" });
    const { asked } = await ask({ tools: [bash], input: { tool_name: "Bash" } });
    expect(asked).toMatchObject([{ tool: "Bash", traits: acts }]);
  });

  test("a call with its id and input; one without input has an empty one", async () => {
    expect((await ask({})).asked).toMatchObject([{ callId: "toolu_1", input: { command: "ls" } }]);
    expect((await ask({ input: { tool_input: undefined } })).asked).toMatchObject([{ input: {} }]);
  });
});

const noteLike = {
  description: "Notes.",
  input: z.object({}),
  annotations: { readOnly: true, safeInternal: true },
  handler: () => "noted",
};
