import { inputsIn } from "../../core/agent/agent-inputs.ts";
import type { AgentPart } from "./agent-part.ts";
import { withoutUndefined } from "../settings/without-undefined.ts";
import type { LayerEnvironment } from "../settings/environment.ts";
import { union } from "../settings/union.ts";

/**
 * Merges a file with the one it extends: named entries by name, permission lists joined, everything else replaced if
 * the file sets it.
 */
export function mergeParts(below: AgentPart, above: AgentPart): AgentPart {
  return {
    ...below,
    ...withoutUndefined(above),
    ...instructionsOf(above.instructions === undefined ? below : above),
    inputs: byName(neededBy(above.instructions, below.inputs), above.inputs),
    tools: toolsOf(below.tools, above.tools),
    mcp_servers: byName(below.mcp_servers, above.mcp_servers),
    subagents: byName(below.subagents, above.subagents),
    commands: byName(below.commands, above.commands),
    hooks: byName(below.hooks, above.hooks),
    permissions: mergeLists(below.permissions, above.permissions, ["allow", "ask", "deny"]),
    budget: byName(below.budget, above.budget),
    environment: environmentOf(below.environment, above.environment),
  };
}

/** Their file and mode belong to them. */
function instructionsOf({
  instructions,
  instructions_mode,
  instructions_file,
}: AgentPart): Pick<AgentPart, "instructions" | "instructions_mode" | "instructions_file"> {
  return { instructions, instructions_mode, instructions_file };
}

/** Drops inputs that only the replaced instructions used. */
function neededBy(instructions: string | undefined, inputs: AgentPart["inputs"]): AgentPart["inputs"] {
  if (instructions === undefined || inputs === undefined) return inputs;
  const used = inputsIn(instructions);
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => used.includes(name)));
}

function toolsOf(below: AgentPart["tools"], above: AgentPart["tools"]): AgentPart["tools"] {
  return above === undefined || Array.isArray(above) ? (above ?? below) : toolList(below, above);
}

/** The tools after turning some on and others off. */
export function toolList(below: AgentPart["tools"], changes: AgentPart["tools"] = []): string[] {
  if (Array.isArray(changes)) return changes;
  const before = below === undefined ? [] : toolList(undefined, below);
  const on = Object.keys(changes).filter((tool) => changes[tool] === true);
  return union(before, on).filter((tool) => changes[tool] !== false);
}

/** As mergeEnvironment does for settings. */
function environmentOf(below: LayerEnvironment = {}, above: LayerEnvironment = {}): LayerEnvironment | undefined {
  const sandbox = mergeLists(below.sandbox, above.sandbox, ["deny_read", "deny_write", "hide_variables"]);
  const merged = withoutUndefined({
    workspace: above.workspace ?? below.workspace,
    checkpoints: mergeLists(below.checkpoints, above.checkpoints, ["exclude"]),
    sandbox:
      sandbox && withoutUndefined({ ...sandbox, network: byName(below.sandbox?.network, above.sandbox?.network) }),
    limits: byName(below.limits, above.limits),
    variables: byName(below.variables, above.variables),
  });
  return Object.keys(merged).length === 0 ? undefined : merged;
}

function byName<Record extends object>(below: Record | undefined, above: Record | undefined): Record | undefined {
  return below === undefined || above === undefined ? (above ?? below) : { ...below, ...withoutUndefined(above) };
}

/** By name, except for these lists, which are joined. */
function mergeLists<Record extends object>(
  below: Record | undefined,
  above: Record | undefined,
  lists: readonly (keyof Record)[],
): Record | undefined {
  const merged = byName(below, above);
  if (below === undefined || above === undefined || merged === undefined) return merged;
  const grown = lists.flatMap((key) => {
    const [lower, upper] = [below[key], above[key]];
    return Array.isArray(lower) && Array.isArray(upper) ? [[key, union<unknown>(lower, upper)] as const] : [];
  });
  return { ...merged, ...Object.fromEntries(grown) };
}
