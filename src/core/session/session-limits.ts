import type { LimitHit, LimitName, SessionBudget } from "../money/budget-schema.ts";
import type { SessionState } from "./state.ts";

/** The first limit that leaves no room for another model request. */
export function limitOnModelRequest(budget: SessionBudget, state: SessionState): LimitHit | undefined {
  const { usage } = state;
  return (
    limitHit("usd", budget.usd, state.usd) ??
    limitHit("tokens", budget.tokens, tokensOf(state)) ??
    limitHit("input_tokens", budget.input_tokens, usage.input_tokens) ??
    limitHit("output_tokens", budget.output_tokens, usage.output_tokens) ??
    limitHit("cache_tokens", budget.cache_tokens, usage.cache_read_input_tokens + usage.cache_creation_input_tokens)
  );
}

/** The limit that forbids another turn. `state` is the one before the turn starts. */
export function limitOnTurn(budget: SessionBudget, state: SessionState): LimitHit | undefined {
  return limitHit("turns", budget.turns, state.turns) ?? limitOnModelRequest(budget, state);
}

/** The limit that forbids another tool call. */
export function limitOnToolCall(budget: SessionBudget, state: SessionState): LimitHit | undefined {
  return limitHit("tool_calls", budget.tool_calls, state.toolCalls) ?? limitOnModelRequest(budget, state);
}

export function budgetLeft(
  budget: SessionBudget,
  state: SessionState,
): { usd?: number; tokens?: number; toolCalls?: number } {
  return {
    ...(budget.usd !== undefined && { usd: Math.max(0, budget.usd - state.usd) }),
    ...(budget.tokens !== undefined && { tokens: Math.max(0, budget.tokens - tokensOf(state)) }),
    ...(budget.tool_calls !== undefined && { toolCalls: Math.max(0, budget.tool_calls - state.toolCalls) }),
  };
}

export function tokensOf(state: SessionState): number {
  const { usage } = state;
  return usage.input_tokens + usage.output_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}

function limitHit(which: LimitName, limit: number | undefined, spent: number): LimitHit | undefined {
  return limit !== undefined && spent >= limit ? { which, limit, spent } : undefined;
}

const WHERE = {
  session: "Resume the session with a higher one",
  agent: "Raise it under budgets.agents in the settings and resume the session",
  project: "Raise it under budgets.project in the settings and resume the session",
  day: "Raise it under budgets.day in the settings and resume the session, or wait for tomorrow",
} as const;

const MEBIBYTE = 1_048_576;

/** Whose limit it is, how much is spent, what the next request needs, and what to do. */
export function limitText(hit: LimitHit): string {
  const { which, limit, spent, scope = "session", reserved, needed } = hit;
  switch (which) {
    case "deadline":
      return `The turn reached its deadline of ${figure(limit / 1000)} s. Send a message to continue, or resume the session with a longer deadline.`;
    case "memory_bytes":
      return overEnvironment(
        `${figure(limit / MEBIBYTE)} MiB of memory`,
        `${figure(Math.round(spent / MEBIBYTE))} MiB`,
        which,
      );
    case "cpu_seconds":
      return overEnvironment(`${figure(limit)} s of CPU time`, `${figure(spent)} s`, which);
    case "processes":
      return overEnvironment(`${figure(limit)} processes`, figure(spent), which);
    default:
  }
  const unit = which.replaceAll("_", " ");
  const figures = [
    `${figure(spent)} spent`,
    ...(reserved ? [`${figure(reserved)} reserved for running requests`] : []),
    ...(needed === undefined ? [] : [`about ${figure(needed)} needed for the next request`]),
  ];
  const whose = scope === "day" ? "The day's" : `The ${scope}'s`;
  return `${whose} limit of ${figure(limit)} ${unit === "usd" ? "USD" : unit} is reached: ${figures.join(", ")}. ${WHERE[scope]}.`;
}

function overEnvironment(limit: string, spent: string, which: LimitName): string {
  return `The session's processes used more than their limit of ${limit}: ${spent}. Raise environment.limits.${which} and send a message to continue.`;
}

/** Rounds away digits that come only from adding. */
function figure(value: number): string {
  return String(Number(value.toFixed(6)));
}
