import { expect, test } from "vitest";
import { effectsBeyond } from "../../src/eval/trial/side-effects.ts";
import type { TrialCallFacts } from "../../src/eval/trial/trial-facts.ts";

const call = (
  tool: string,
  input: TrialCallFacts["input"],
  outcome: TrialCallFacts["outcome"] = "completed",
): TrialCallFacts => ({
  id: tool,
  tool,
  input,
  by: "main",
  outcome,
  result: "",
});

test("calls whose effects may go beyond the workspace are told once each, but not those that were denied", () => {
  const push = call("Bash", { command: "git push" });
  const calls = [
    call("Read", { file_path: "a" }),
    call("Write", { file_path: "a" }),
    push,
    push,
    call("Bash", { command: "rm -rf /" }, "denied"),
    call("mcp__mail__send", { to: "x" }, "failed"),
  ];
  expect(effectsBeyond(calls)).toEqual(['Bash {"command":"git push"}', 'mcp__mail__send {"to":"x"}']);
});
