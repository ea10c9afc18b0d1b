import type { AgentDefinition } from "../core/agent/agent-definition.ts";
import type { Engine } from "../core/ports/engine.ts";
import { CapstanError } from "../core/errors.ts";
import { readRule, unknownTool } from "../core/rules/rule.ts";
import { BUILT_IN_TOOLS } from "../core/rules/tool-names.ts";
import { nearest } from "../core/text/nearest.ts";
import { BUILTIN_NAMES } from "./builtin-tools.ts";

interface RuleUse {
  readonly agent: Pick<AgentDefinition, "permissions" | "custom_tools">;
  /** Tools in addition to the engine's own. */
  readonly tools: readonly { readonly name: string }[];
  readonly matchers?: Parameters<Engine["validate"]>[0]["matchers"];
}

/** A rule for an unknown tool protects nothing; it is probably a typo. */
export function requireKnownTools({ agent, tools, matchers = [] }: RuleUse): void {
  const { custom_tools: custom = [] } = agent;
  const known = [...new Set([...BUILTIN_NAMES, ...BUILT_IN_TOOLS, ...[...tools, ...custom].map(({ name }) => name)])];
  const { allow, ask, deny } = agent.permissions;
  const rules: readonly (readonly [where: string, rule: string])[] = [
    ...allow.map((rule) => ["permissions.allow", rule] as const),
    ...ask.map((entry) => ["permissions.ask", typeof entry === "string" ? entry : entry.rule] as const),
    ...deny.map((rule) => ["permissions.deny", rule] as const),
    ...matchers.map((rule) => ["hooks", rule] as const),
  ];
  const problems = rules.flatMap(([where, text]) => {
    const rule = readRule(text);
    const problem = typeof rule === "string" ? rule : unknownTool(rule, known);
    return problem === undefined ? [] : [`${where}: ${problem}`];
  });
  if (problems.length > 0) throw new CapstanError("invalid_agent", problems.join("\n"), { data: { problems } });
}

/** The error for tools that neither the engine nor the session has. */
export function unknownToolsError(unknown: readonly string[], known: readonly string[]): CapstanError {
  const problems = [...new Set(unknown)].map((tool) => {
    const meant = nearest(tool, known);
    return `unknown tool ${JSON.stringify(tool)}.${meant === undefined ? "" : ` Did you mean ${meant}?`}`;
  });
  const text = `tools: ${problems.join(" ")} Known tools: ${known.join(", ")}. Host tools are passed with the session; tools of an MCP server are named mcp__server__tool.`;
  return new CapstanError("invalid_agent", text, { data: { unknown } });
}
