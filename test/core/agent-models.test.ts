import { expect, test } from "vitest";
import { isOwnModel, modelsOf } from "../../src/core/agent/agent-models.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { agent } from "../support/host.ts";

test("an agent's models are its own, its fallback, those of its subagents and those a person chose", () => {
  const subagents = { one: { description: "d", instructions: "i", model: "haiku" } };
  const defined = parseAgent(agent({ model: "claude-sonnet-5", fallback_model: "opus", subagents }));
  expect(modelsOf(defined, [undefined, "claude-opus-5"])).toEqual([
    "claude-sonnet-5",
    "claude-opus-5",
    "opus",
    "haiku",
  ]);
});

test.each([
  ["claude-opus-4-8", "claude-opus-4-8"],
  ["claude-opus-4-8[1m]", "claude-opus-4-8"],
  ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929"],
  ["opus", "claude-opus-5-5"],
  ["opusplan", "claude-sonnet-5-5"],
  ["best", "claude-fable-5"],
  ["claude-opus-4-1", "claude-opus-5-5"],
  ["my-model", "my-model"],
  ["us.anthropic.claude-opus-4-8-v1:0", "us.anthropic.claude-opus-4-8-v1:0"],
  // The engine's own small one.
  ["claude-opus-4-8", "claude-haiku-5-5"],
])("an agent with %s may ask %s", (own, asked) => {
  expect(isOwnModel(asked, [own])).toBe(true);
});

test.each([
  ["claude-sonnet-5", "claude-opus-5-5"],
  ["claude-opus-4-8", "claude-opus-5-5"],
  ["sonnet", "claude-opus-5-5"],
  ["inherit", "claude-opus-5-5"],
  ["my-model", "my-model-2"],
  ["best", "gpt-5"],
  ["claude-opus-4-8", "claude-opus-4-8-fast"],
])("an agent with %s may not ask %s", (own, asked) => {
  expect(isOwnModel(asked, [own])).toBe(false);
});
