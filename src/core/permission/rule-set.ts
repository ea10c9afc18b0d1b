import type { AgentDefinition, Permissions } from "../agent/agent-definition.ts";
import { CapstanError } from "../errors.ts";
import type { PreparedCall } from "./match-call.ts";
import { ALLOWS_ALL, parseRule, type Rule } from "../rules/rule.ts";
import { RuleIndex } from "./rule-index.ts";
import { policyRules } from "./server-policy.ts";

/** The rules of a session, parsed once and matched with every call. */
export interface RuleSet extends Rules {
  /** The rules that can match a call. */
  among(call: PreparedCall): Rules;
}

export interface Rules {
  readonly allow: readonly Rule[];
  readonly ask: readonly AskRule[];
  readonly deny: readonly Rule[];
}

export interface AskRule {
  readonly rule: Rule;
  /** Whether an answer may be saved as a grant, and a grant may answer. */
  readonly remember: boolean;
}

/** A remembered answer. */
export interface GrantedRule {
  readonly id: string;
  readonly rule: Rule;
}

export type RuleLists = Pick<Permissions, "allow" | "ask" | "deny">;

/** All rules of an agent: those of its permissions, and those for `tools` of its MCP servers. */
export function agentRules({
  permissions,
  mcp_servers,
}: Pick<AgentDefinition, "permissions" | "mcp_servers">): RuleSet {
  return compileRules(permissions, policyRules(mcp_servers));
}

/** Throws `invalid_agent` for a malformed rule. `more` are rules that are already parsed. */
export function compileRules(lists: RuleLists, more: Rules = { allow: [], ask: [], deny: [] }): RuleSet {
  const deny = [...lists.deny.map(parseRule), ...more.deny];
  const written = lists.ask.map((entry): AskRule =>
    typeof entry === "string"
      ? { rule: parseRule(entry), remember: true }
      : { rule: parseRule(entry.rule), remember: entry.remember },
  );
  const ask = [...written, ...more.ask];
  const allow = [...lists.allow.map(parseAllowRule), ...more.allow];
  const index = new RuleIndex([...deny, ...ask.map(({ rule }) => rule), ...allow]);
  const firstAsk = deny.length;
  const firstAllow = firstAsk + ask.length;
  return {
    allow,
    ask,
    deny,
    among(call) {
      const found: { allow: Rule[]; ask: AskRule[]; deny: Rule[] } = { allow: [], ask: [], deny: [] };
      for (const id of index.candidates(call))
        if (id < firstAsk) take(found.deny, deny[id]);
        else if (id < firstAllow) take(found.ask, ask[id - firstAsk]);
        else take(found.allow, allow[id - firstAllow]);
      return found;
    },
  };
}

function take<Entry>(list: Entry[], entry: Entry | undefined): void {
  if (entry !== undefined) list.push(entry);
}

/** A rule that may allow, as in the list `allow` or in a grant. */
export function parseAllowRule(text: string): Rule {
  const rule = parseRule(text);
  if (rule.kind !== "any") return rule;
  throw new CapstanError("invalid_agent", ALLOWS_ALL, { data: { rule: text } });
}
