import type { Mode } from "../../../src/core/agent/agent-definition.ts";
import { decide, type PermissionQuery, type PermissionVerdict } from "../../../src/core/permission/decide.ts";
import { parseRule } from "../../../src/core/rules/rule.ts";
import { compileRules, type RuleLists } from "../../../src/core/permission/rule-set.ts";
import type { CallSubject, ToolTraits } from "../../../src/core/rules/subject.ts";
import { subjectOf } from "../../../src/runtime/subject/call-subject.ts";

/** A workspace that is not there: nothing in it exists, and no link leads anywhere. */
const NOWHERE = { cwd: "/nowhere/ws", home: "/nowhere/home" };

export function subject(tool: string, input: Record<string, unknown> = {}): CallSubject {
  return subjectOf({ tool, input }, NOWHERE);
}

export function bash(command: string): CallSubject {
  return subject("Bash", { command });
}

const ACTS: ToolTraits = { readOnly: false, edit: false, safeInternal: false };
export const TRAITS: Readonly<Record<string, ToolTraits>> = {
  Read: { ...ACTS, readOnly: true },
  Glob: { ...ACTS, readOnly: true },
  Grep: { ...ACTS, readOnly: true },
  Write: { ...ACTS, edit: true },
  Edit: { ...ACTS, edit: true },
  NotebookEdit: { ...ACTS, edit: true },
  Agent: { ...ACTS, readOnly: true, safeInternal: true },
};

export interface Situation extends Partial<RuleLists> {
  readonly mode?: Mode;
  readonly grants?: readonly string[];
  readonly query?: Partial<PermissionQuery>;
}

/** What is decided about a call; each grant has its place in the list as id. */
export function decideCall(about: CallSubject, situation: Situation = {}): PermissionVerdict {
  const { allow = [], ask = [], deny = [], mode = "normal", grants = [], query } = situation;
  return decide({
    enabled: true,
    mode,
    rules: compileRules({ allow, ask, deny }),
    traits: TRAITS[about.tool] ?? ACTS,
    subject: about,
    sandboxed: false,
    grants: grants.map((text, index) => ({ id: String(index), rule: parseRule(text) })),
    ...query,
  });
}
