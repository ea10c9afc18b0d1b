import type { AgentDefinition } from "../agent/agent-definition.ts";
import { engineToolName } from "../agent/mcp-server-schema.ts";
import { OTHER_TOOLS } from "../agent/mcp-tool-policy.ts";
import { parseGlob } from "../paths/glob.ts";
import type { Rule } from "../rules/rule.ts";
import type { Rules } from "./rule-set.ts";

/** The rules for `tools` of an agent's MCP servers. Their text says where they are written. */
export function policyRules(servers: AgentDefinition["mcp_servers"] = {}): Rules {
  const rules = Object.entries(servers).flatMap(([server, { tools = {} }]) => {
    const named = Object.keys(tools).filter((tool) => tool !== OTHER_TOOLS);
    const except = named.map((tool) => engineToolName(server, tool));
    return Object.entries(tools).map(([tool, behavior]) => {
      const text = `mcp_servers.${server}.tools.${tool}`;
      const name = parseGlob(tool === OTHER_TOOLS ? `mcp__${server}__*` : engineToolName(server, tool));
      const rule: Rule = { kind: "mcp", text, name, server: undefined, ...(tool === OTHER_TOOLS && { except }) };
      return { behavior, rule };
    });
  });
  const of = (wanted: string): Rule[] => rules.flatMap(({ behavior, rule }) => (behavior === wanted ? [rule] : []));
  return { allow: of("allow"), ask: of("ask").map((rule) => ({ rule, remember: true })), deny: of("deny") };
}
