import type { ToolContext, ToolOutcome } from "../../src/core/ports/tool.ts";

/** What a tool gets with a call, for tests that call one without a session. */
export function toolContext(overrides: Partial<ToolContext> = {}): ToolContext {
  return {
    sessionId: "sesn_1",
    callId: "toolu_1",
    cwd: "/workspace",
    tempDir: "/tmp/call",
    variables: {},
    deadline: undefined,
    budgetLeft: {},
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** What the model is told; blocks other than text are shown by their type. */
export function modelText(outcome: ToolOutcome): string {
  return outcome.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("\n");
}
