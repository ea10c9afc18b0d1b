import type { Permissions } from "../core/agent/agent-definition.ts";
import { readRule, type Rule } from "../core/rules/rule.ts";
import { speaksOf } from "../core/rules/tool-names.ts";
import { type PolicyName, TOOLSET, TOOLSET_NAMES, type ToolsetName } from "./v1/agent-tools.ts";
import { invalid } from "./v1/refusal.ts";

/** Converts policies of the Managed Agents API to Capstan's rules, and back. */

export type RuleLists = Pick<Permissions, "allow" | "ask" | "deny">;

/** `always_allow` and `always_ask` become rules with the tool's bare name; `auto` needs no rule. */
export function rulesFor(policies: ReadonlyMap<ToolsetName, PolicyName>, blocked: readonly string[]): RuleLists {
  const namesWith = (wanted: PolicyName): string[] =>
    [...policies].filter(([, policy]) => policy === wanted).map(([name]) => TOOLSET[name]);
  return {
    allow: namesWith("always_allow"),
    ask: namesWith("always_ask"),
    // A rule for a domain does not include its subdomains.
    deny: blocked.flatMap((domain) => [`WebFetch(domain:${domain})`, `WebFetch(domain:*.${domain})`]),
  };
}

/**
 * A rule for Read also applies to Glob and Grep, and one for Edit to Write. Rejects a conflicting policy for those. An
 * unnamed policy may become stricter and is then shown as such.
 */
export function requireEffective(policies: ReadonlyMap<ToolsetName, PolicyName>, lists: RuleLists): void {
  for (const [name, wanted] of policies) {
    const effective = policyOf(name, lists);
    if (effective === wanted || (wanted === "auto" && effective === "always_ask")) continue;
    const [other] = [...policies].find(([family]) => family !== name && spokenOf(TOOLSET[family], name)) ?? ["another"];
    throw invalid(
      `tools: the permission_policy of ${other} also applies to ${name}, because they share a rule. Give ${name} the same permission_policy, or disable it.`,
    );
  }
}

function spokenOf(tool: string, name: ToolsetName): boolean {
  return speaksOf(tool, TOOLSET[name]);
}

/** The policy that the rules give a tool. A tool with a rule that the API cannot express is decided call by call. */
export function policyOf(name: ToolsetName, { allow, ask, deny }: RuleLists): PolicyName {
  const tool = TOOLSET[name];
  const askTexts = ask.map((entry) => (typeof entry === "string" ? entry : entry.rule));
  const about = (texts: readonly string[]): readonly Rule[] => rulesAbout(texts, tool);
  const others = [...about(allow), ...about(askTexts), ...about(deny.filter((text) => domainIn(text) === undefined))];
  if (others.some((rule) => !isBare(rule))) return "auto";
  if (about(askTexts).length > 0) return "always_ask";
  return about(allow).length > 0 ? "always_allow" : "auto";
}

/** A tool that a rule denies entirely counts as disabled. */
export function isDeniedByRule(name: ToolsetName, { deny }: RuleLists): boolean {
  return rulesAbout(deny, TOOLSET[name]).some(isBare);
}

function rulesAbout(texts: readonly string[], tool: string): readonly Rule[] {
  return texts.flatMap((text) => {
    const rule = readRule(text);
    return typeof rule !== "string" && isAbout(rule, tool) ? [rule] : [];
  });
}

function isAbout(rule: Rule, tool: string): boolean {
  switch (rule.kind) {
    case "any":
      return true;
    case "tool":
    case "path":
      return speaksOf(rule.tool, tool);
    case "command":
      return tool === "Bash";
    case "domain":
      return tool === "WebFetch";
    case "mcp":
    case "skill":
    case "subagent":
      return false;
  }
}

function isBare({ kind }: Rule): boolean {
  return kind === "tool" || kind === "any";
}

/** Domains that are denied with all subdomains, which is what the API means by a blocked domain. */
export function blockedDomains({ deny }: RuleLists): readonly string[] {
  const domains = deny.map(domainIn).filter((domain) => domain !== undefined);
  return domains.filter((domain) => !domain.startsWith("*.") && domains.includes(`*.${domain}`));
}

function domainIn(text: string): string | undefined {
  return /^WebFetch\(domain:(.+)\)$/.exec(text)?.[1];
}

/** Removes the rules that `rulesFor` writes, leaving what a new list of tools does not replace. */
export function withoutToolset({ allow, ask, deny }: RuleLists): RuleLists {
  const bare: readonly string[] = TOOLSET_NAMES.map((name) => TOOLSET[name]);
  const blocked = blockedDomains({ allow, ask, deny });
  const isBlocked = (domain: string | undefined): boolean =>
    domain !== undefined && blocked.includes(domain.replace(/^\*\./, ""));
  return {
    allow: allow.filter((text) => !bare.includes(text)),
    ask: ask.filter((entry) => typeof entry !== "string" || !bare.includes(entry)),
    deny: deny.filter((text) => !isBlocked(domainIn(text))),
  };
}
