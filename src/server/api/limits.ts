import type { AgentDefinition, Mode } from "../../core/agent/agent-definition.ts";
import type { Approval } from "../../core/session/approval.ts";
import type { SessionBudget } from "../../core/money/budget-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Caller } from "../http/context.ts";

/** What an agent may do and spend is for whoever defines agents to say: others only make a session stricter. */

/** The strictest first. An approved plan is carried out in the mode `normal`, so `read-only` comes before `plan`. */
const STRICTNESS: readonly Mode[] = ["read-only", "plan", "normal", "accept-edits", "yolo"];

export function requireStricter(caller: Caller, mode: Mode | undefined, agent: AgentDefinition): void {
  const own = agent.permissions.mode;
  if (mode === undefined || STRICTNESS.indexOf(mode) <= STRICTNESS.indexOf(own)) return;
  requireAdmin(caller, `mode: ${mode} allows more than the agent's own mode, ${own}`, `Name a stricter one.`);
}

export function requireNoRules(caller: Caller, allow: readonly string[] | undefined): void {
  if (allow !== undefined && allow.length > 0)
    requireAdmin(caller, "allow: these rules allow more than the agent's own", "Leave them out.");
}

/** An answer must not become a way to write rules: what an approval suggests was made from the call that it is about. */
export function requireSuggestedRules(
  caller: Caller,
  { request }: Approval,
  rules: readonly string[] | undefined,
): void {
  const own = rules?.find((rule) => !request.remember.includes(rule));
  if (own !== undefined)
    requireAdmin(
      caller,
      `rules: ${JSON.stringify(own.slice(0, 200))} is not a rule that this approval suggests`,
      "Leave `rules` out to remember the suggested ones, or answer for once.",
    );
}

/** Every limit is the lower one of both, but for admins, whose word counts. */
export function limited({ role }: Caller, given: SessionBudget, own: SessionBudget): SessionBudget {
  if (role === "admin") return { ...own, ...given };
  const lower = Object.entries(given).map(([name, limit]) => {
    const other = own[name as keyof SessionBudget];
    return [name, limit === undefined || other === undefined ? (limit ?? other) : Math.min(limit, other)] as const;
  });
  return { ...own, ...Object.fromEntries(lower) };
}

/** null for none. Without a limit of its own a session has that of its agent. */
export function limitedUsd({ role }: Caller, given: number | null, own: number | undefined): number | null {
  if (role === "admin" || own === undefined) return given;
  return Math.min(given ?? own, own);
}

function requireAdmin({ role }: Caller, what: string, otherwise: string): void {
  if (role !== "admin")
    throw new CapstanError(
      "not_allowed",
      `${what}. Only a key with the role admin may do that; this one has the role ${role}. ${otherwise}`,
      { data: { role, wanted: "admin" } },
    );
}
