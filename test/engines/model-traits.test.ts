import { describe, expect, test } from "vitest";
import { type AgentInput, parseAgent } from "../../src/core/agent/agent-definition.ts";
import { claudeCodePromptChars, requireModelSettings } from "../../src/engines/model-traits.ts";
import { agent } from "../support/host.ts";

const require = (given: Partial<AgentInput>): void => requireModelSettings(parseAgent(agent(given)));

describe("what a model cannot be told is refused by name", () => {
  test.each<[string, Partial<AgentInput>, RegExp]>([
    ["effort", { model: "claude-sonnet-4-5-20250929", effort: "low" }, /^effort: .* has no effort levels/],
    [
      "effort that is too high",
      { model: "claude-opus-4-6", effort: "xhigh" },
      /xhigh\. It supports low, medium, high, max/,
    ],
    [
      "tokens where it adapts",
      { model: "claude-opus-4-8", thinking: { budget_tokens: 2000 } },
      /^thinking: .*budget_tokens/,
    ],
    [
      "adaptive thinking",
      { model: "us.anthropic.claude-haiku-4-5-v1:0", thinking: "adaptive" },
      /supports budget_tokens, disabled/,
    ],
    [
      "no thinking where it always does",
      { model: "opus", thinking: "disabled" },
      /^thinking: opus does not support disabled/,
    ],
    ["itself in its own place", { model: "opus", fallback_model: "opus" }, /^fallback_model: opus is the model itself/],
  ])("%s", (_what, given, problem) => {
    expect(() => require(given)).toThrow(
      expect.objectContaining({ code: "invalid_agent", message: expect.stringMatching(problem) as string }),
    );
  });

  test.each<Partial<AgentInput>>([
    { model: "claude-opus-4-8", effort: "max", thinking: "disabled" },
    { model: "claude-sonnet-4-20250514", thinking: { budget_tokens: 2000 } },
    { model: "haiku", effort: "xhigh", thinking: "adaptive", fallback_model: "sonnet" },
    { model: "a-model-of-somebody-else", effort: "max", thinking: { budget_tokens: 2000 } },
  ])("and what it can be told, or nobody knows, is not: $model", (given) => {
    expect(() => require(given)).not.toThrow();
  });
});

test("the size of Claude Code's own prompt depends on the model", () => {
  expect(["claude-opus-5-5", "claude-opus-5", "claude-sonnet-4-6", "other"].map(claudeCodePromptChars)).toEqual([
    3474,
    6638,
    13466,
    undefined,
  ]);
});
