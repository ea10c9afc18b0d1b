import type { AgentDefinition, Mode } from "../../core/agent/agent-definition.ts";
import type { Approval } from "../../core/session/approval.ts";
import type { SessionBudget } from "../../core/money/budget-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Caller } from "../http/context.ts";

/** Only admins decide what an agent may do and spend; other callers can only make a session stricter. */

/** Strictest first. An approved plan runs in the mode `normal`, so `read-only` comes before `plan`. */
const STRICTNESS: readonly Mode[] = ["read-only", "plan", "normal", "accept-edits", "yolo"];

export function requireStricter(caller: Caller, mode: Mode | undefined, agent: AgentDefinition): void {
  const own = agent.permissions.mode;
  if (mode === undefined || STRICTNESS.indexOf(mode) <= STRICTNESS.indexOf(own)) return;
  requireAdmin(caller, `mode: ${mode} allows more than the agent's mode, ${own}`, `Use a stricter mode.`);
}

export function requireNoRules(caller: Caller, allow: readonly string[] | undefined): void {
  if (allow !== undefined && allow.length > 0)
    requireAdmin(caller, "allow: these rules allow more than the agent's", "Omit them.");
}

/** Prevents answers from adding arbitrary rules: the suggestions come from the call itself. */
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
      "Omit `rules` to remember the suggested ones, or allow the call once.",
    );
}

/** Takes the lower of both limits; admins may exceed the agent's. */
export function lowerLimits({ role }: Caller, given: SessionBudget, own: SessionBudget): SessionBudget {
  if (role === "admin") return { ...own, ...given };
  const lower = Object.entries(given).map(([name, limit]) => {
    const other = own[name as keyof SessionBudget];
    return [name, limit === undefined || other === undefined ? (limit ?? other) : Math.min(limit, other)] as const;
  });
  return { ...own, ...Object.fromEntries(lower) };
}

/** null for none. A session without a limit has its agent's. */
export function limitedUsd({ role }: Caller, given: number | null, own: number | undefined): number | null {
  if (role === "admin" || own === undefined) return given;
  return Math.min(given ?? own, own);
}

function requireAdmin({ role }: Caller, what: string, otherwise: string): void {
  if (role !== "admin")
    throw new CapstanError(
      "not_allowed",
      `${what}. That requires an admin key; this key has the role ${role}. ${otherwise}`,
      { data: { role, wanted: "admin" } },
    );
}
