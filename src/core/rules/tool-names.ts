/** The built-in tools that rules may name, as in the log. */
export const BUILT_IN_TOOLS: readonly string[] = [
  "Agent",
  "AskUserQuestion",
  "Bash",
  "Edit",
  "EnterPlanMode",
  "ExitPlanMode",
  "Glob",
  "Grep",
  "NotebookEdit",
  "Read",
  "SendMessage",
  "Skill",
  "TaskCreate",
  "TaskGet",
  "TaskList",
  "TaskUpdate",
  "WebFetch",
  "WebSearch",
  "Write",
];

/** Approval of a plan, and a question of the agent: a person answers, in every mode. */
export const PLAN_TOOL = "ExitPlanMode";
export const QUESTION_TOOL = "AskUserQuestion";

/** The subagent that every agent with the tool `Agent` may start; it is the default. */
export const GENERAL_SUBAGENT = "general-purpose";

/** What a rule for one tool also covers: every tool that reads or edits files. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  Read: ["Read", "Glob", "Grep"],
  Edit: ["Edit", "Write", "NotebookEdit"],
};

/** `Bash`, `bash`, `web_fetch` and the old `Task` are names of built-in tools; any other name is returned unchanged. */
export function canonicalTool(written: string): string {
  return CANONICAL.get(plain(written)) ?? written;
}

const CANONICAL = new Map([...BUILT_IN_TOOLS.map((name) => [plain(name), name] as const), ["task", "Agent"]]);

function plain(name: string): string {
  return name.toLowerCase().replaceAll("_", "");
}

/** The tools that a rule for a tool covers. */
export function familyOf(ruleTool: string): readonly string[] {
  return FAMILIES[ruleTool] ?? [ruleTool];
}

export function speaksOf(ruleTool: string, tool: string): boolean {
  return ruleTool === tool || FAMILIES[ruleTool]?.includes(tool) === true;
}

const ONLY_ELSEWHERE = ["WebFetch", "WebSearch"];

/** Whether a call of the tool may change files of the workspace. */
export function mayChangeFiles(
  tool: string,
  { readOnly, custom }: { readonly readOnly: boolean; readonly custom?: boolean | undefined },
): boolean {
  return !readOnly && custom !== true && !ONLY_ELSEWHERE.includes(tool);
}
