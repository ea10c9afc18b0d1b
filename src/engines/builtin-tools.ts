import type { ToolTraits } from "../core/rules/subject.ts";

/** The built-in tools, the same on every engine, and what they can do. */
const READS: ToolTraits = { readOnly: true, edit: false, safeInternal: false };
const EDITS: ToolTraits = { readOnly: false, edit: true, safeInternal: false };
const ACTS: ToolTraits = { readOnly: false, edit: false, safeInternal: false };
/** Changes nothing but the conversation itself. What a subagent does, or a skill leads to, is decided call by call. */
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

/** The way out of plan mode; an agent has it whenever its process starts in that mode. */
export const PLAN_EXIT = "ExitPlanMode";

export function traitsOf(tool: string): ToolTraits {
  return BUILTIN[tool] ?? ACTS;
}
