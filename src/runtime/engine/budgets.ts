import type { Budget } from "../../core/agent/agent-definition.ts";
import { dayOf, dayStart } from "../../core/money/budget-day.ts";
import {
  type BudgetSettings,
  DEFAULT_RESERVE_OUTPUT_TOKENS,
  type SessionBudget,
} from "../../core/money/budget-schema.ts";
import type { ScopeLimits } from "../../core/money/budget-scopes.ts";
import type { LimitHit } from "../../core/money/budget-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft, ModelUsage } from "../../core/events/events.ts";
import { isAlias, listPrice, priceOf } from "../../core/money/pricing.ts";
import { type PriceEntry, PRICES } from "../../core/money/prices.ts";
import type { SessionState } from "../../core/session/state.ts";
import type { SessionBasics, ToolSettings } from "../session-deps.ts";

/** What the host knows about money: prices, and limits beyond one session. */
export interface Budgets {
  readonly settings: BudgetSettings;
  readonly prices: readonly PriceEntry[];
  /** Which projects count together (default: each by itself). */
  readonly accounts?: ProjectAccounts;
}

interface ProjectAccounts {
  /** Call this before a session of the project starts in a directory. Undefined when there is nothing to store. */
  note(project: string, source: string, isOld: () => Promise<boolean>): Promise<void> | undefined;
  /** The projects whose spending counts together with this one's, including itself. */
  countedWith(project: string): readonly string[];
}

export const NO_BUDGETS: Budgets = { settings: {}, prices: PRICES };

export function reserveOutputTokens({ settings }: Budgets): number {
  return settings.reserve_output_tokens ?? DEFAULT_RESERVE_OUTPUT_TOKENS;
}

/** Every scope with limits that a session of this agent belongs to now. */
export function scopesOf(
  { settings, accounts }: Budgets,
  {
    project,
    agent,
    budget,
    now,
  }: { readonly project: string; readonly agent: string; readonly budget: Budget; readonly now: number },
): readonly ScopeLimits[] {
  // The limit on the session's own turns is checked before each turn begins.
  const { turns: _turns, ...session } = budget;
  const shared = sharedScopes(settings, [agent], now);
  const projects = shared.length === 0 ? undefined : accounts?.countedWith(project);
  const all: readonly ScopeLimits[] = [
    { scope: "session", limits: session },
    ...shared.map((scope) => ({ ...scope, ...(projects !== undefined && { projects }) })),
  ];
  return all.filter(({ limits }) => Object.values(limits).some(isSet));
}

/** Every scope with limits beyond one session now: of these agents, of a project and of its day. */
export function sharedScopes(settings: BudgetSettings, agents: readonly string[], now: number): readonly ScopeLimits[] {
  const { project, day, agents: byName = {} } = settings;
  const zone = day?.time_zone ?? "UTC";
  const all: readonly (ScopeLimits | undefined)[] = [
    ...agents.map((agent) => byName[agent] && { scope: "agent" as const, agent, limits: byName[agent] }),
    project && { scope: "project", limits: project },
    day && { scope: "day", limits: day, day: { date: dayOf(now, zone), fromBucket: dayStart(now, zone) } },
  ];
  return all.filter((scope) => scope !== undefined);
}

/** The limit of the agent, the project or the day that forbids another tool call. The session's own is in its state. */
export async function sharedLimitOnToolCall(
  session: Pick<SessionBasics, "store" | "record" | "clock"> & Pick<ToolSettings, "budgets">,
): Promise<LimitHit | undefined> {
  const { store, record, budgets, clock } = session;
  const { name: agent, budget } = record.agent;
  const scopes = scopesOf(budgets, { project: record.project, agent, budget, now: clock.now() }).filter(
    ({ scope, limits }) => scope !== "session" && limits.tool_calls !== undefined,
  );
  return scopes.length === 0 ? undefined : store.ledger.limitOnToolCall(record.id, scopes);
}

function isSet(value: unknown): boolean {
  return value !== undefined;
}

/** The limits of a session that are in force: those it was last resumed with, and the shortest of all deadlines. */
export function budgetInForce(
  { settings }: Budgets,
  { agent, budget, state }: { readonly agent: string; readonly budget: Budget; readonly state: SessionState },
): Budget {
  const own: Budget = { ...budget, ...state.budget };
  const deadlines = [own, settings.agents?.[agent], settings.project, settings.day].flatMap((limits) =>
    limits?.deadline_ms === undefined ? [] : [limits.deadline_ms],
  );
  return deadlines.length === 0 ? own : { ...own, deadline_ms: Math.min(...deadlines) };
}

/** The event that changes a session's limits; none when nothing changes. */
export function budgetChange(budget: SessionBudget | undefined): EventDraft[] {
  return budget === undefined || Object.keys(budget).length === 0 ? [] : [{ type: "capstan.budget_changed", budget }];
}

/** Throws if there is a limit in USD and the model has no price. An alias is checked at the first request. */
export function requirePrice(
  { settings, prices }: Budgets,
  { name, model, budget }: { readonly name: string; readonly model: string; readonly budget: Budget },
): void {
  const limits = [budget, settings.agents?.[name], settings.project, settings.day];
  if (limits.every((scope) => scope?.usd === undefined) || isAlias(model)) return;
  if (priceOf(model, prices) === undefined) throw unpricedModelError(model);
}

export function unpricedModelError(model: string): CapstanError {
  return new CapstanError(
    "unsupported",
    `The model ${model} has no known price, so that a limit in USD cannot be kept. Give its price under prices in the settings, or limit its tokens instead.`,
    { data: { model } },
  );
}

/**
 * Settles model requests whose end nobody saw because their host died. Their cost is unknown, so each counts as what was
 * reserved before it was sent, and is marked as estimated. Call this only right after taking the session over.
 */
export function settleCutRequests(state: SessionState, { prices }: Budgets): EventDraft[] {
  return Object.entries(state.openRequests ?? {}).map(([id, { estimate, ...request }]) => {
    const usage: ModelUsage = {
      input_tokens: estimate?.input ?? 0,
      output_tokens: estimate?.output ?? 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: estimate?.cache ?? 0,
    };
    const price = listPrice(request.model, usage, prices);
    return {
      type: "span.model_request_end",
      ...request,
      model_request_start_id: id,
      is_error: true,
      model_usage: usage,
      usd: price === null ? null : Math.max(price, estimate?.usd ?? 0),
      http_status: null,
      stop_reason: null,
      estimated: true,
    };
  });
}
