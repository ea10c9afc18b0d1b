import type { ToolTraits } from "../core/rules/subject.ts";

/** The built-in tools, the same on every engine, with their traits. */
const READS: ToolTraits = { readOnly: true, edit: false, safeInternal: false };
const EDITS: ToolTraits = { readOnly: false, edit: true, safeInternal: false };
const ACTS: ToolTraits = { readOnly: false, edit: false, safeInternal: false };
/** Changes only the conversation. Calls made by a subagent or because of a skill are decided one by one. */
const INTERNAL: ToolTraits = { readOnly: true, edit: false, safeInternal: true };

const BUILTIN: Readonly<Record<string, ToolTraits>> = {
  Read: READS,
  Glob: READS,
  Grep: READS,
  Write: EDITS,
  Edit: EDITS,
  NotebookEdit: EDITS,
  Bash: ACTS,
  WebFetch: ACTS,
  WebSearch: ACTS,
  Agent: INTERNAL,
  SendMessage: INTERNAL,
  TaskCreate: INTERNAL,
  TaskGet: INTERNAL,
  TaskList: INTERNAL,
  TaskUpdate: INTERNAL,
  TaskStop: INTERNAL,
  StructuredOutput: INTERNAL,
  Skill: INTERNAL,
  AskUserQuestion: READS,
  ExitPlanMode: READS,
};

export const BUILTIN_NAMES: readonly string[] = Object.keys(BUILTIN).filter(
  (name) => !["StructuredOutput", "ExitPlanMode", "Skill", "TaskStop"].includes(name),
);

/** Leaves plan mode. An agent has this tool whenever its process starts in plan mode. */
export const PLAN_EXIT = "ExitPlanMode";

export function traitsOf(tool: string): ToolTraits {
  return BUILTIN[tool] ?? ACTS;
}
