import type { ToolTraits } from "../../core/rules/subject.ts";
import { BUILTIN_NAMES, traitsOf } from "../../engines/builtin-tools.ts";

/** Describes a tool without a session: whether it is built into the engine, and what it can do. */
export function describeTool(tool: string): { readonly isBuiltIn: boolean; readonly traits: ToolTraits } {
  const { readOnly, edit, safeInternal } = traitsOf(tool);
  return { isBuiltIn: BUILTIN_NAMES.includes(tool), traits: { readOnly, edit, safeInternal } };
}

export { requireKnownTools } from "../../engines/rule-tools.ts";
