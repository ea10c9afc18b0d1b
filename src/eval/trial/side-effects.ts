import type { TrialCallFacts } from "./trial-facts.ts";

/** Their effects stay in the workspace or in the conversation. */
const WITHIN = new Set([
  "Read",
  "Glob",
  "Grep",
  "Write",
  "Edit",
  "NotebookEdit",
  "Agent",
  "Skill",
  "AskUserQuestion",
  "ExitPlanMode",
  "TodoWrite",
  "StructuredOutput",
]);

/** Calls whose effects may go beyond the workspace, one line each: repeating them may have side effects. */
export function effectsBeyond(calls: readonly TrialCallFacts[]): readonly string[] {
  const beyond = calls.filter(({ tool, outcome }) => outcome !== "denied" && !WITHIN.has(tool));
  return [...new Set(beyond.map(({ tool, input }) => `${tool} ${JSON.stringify(input)}`))];
}
