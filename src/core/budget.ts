import type { Budget } from "./agent-definition.ts";
import type { EventOf } from "./events.ts";
import type { SessionState } from "./state.ts";

export type LimitName = EventOf<"capstan.limit_reached">["which"];

export interface LimitHit {
  readonly which: LimitName;
  readonly limit: number;
  readonly spent: number;
}

/** The first limit that leaves no room for another model request. */
export function limitOnModelRequest(budget: Budget, state: SessionState): LimitHit | undefined {
  return exceeded("usd", budget.usd, state.usd) ?? exceeded("tokens", budget.tokens, tokensOf(state));
}

/** The limit that forbids another turn. `state` is the one before the turn starts. */
export function limitOnTurn(budget: Budget, state: SessionState): LimitHit | undefined {
  return exceeded("turns", budget.turns, state.turns) ?? limitOnModelRequest(budget, state);
}

/** The limit that forbids another tool call. */
export function limitOnToolCall(budget: Budget, state: SessionState): LimitHit | undefined {
  return exceeded("tool_calls", budget.tool_calls, state.toolCalls) ?? limitOnModelRequest(budget, state);
}

export function budgetLeft(budget: Budget, state: SessionState): { usd?: number; tokens?: number; toolCalls?: number } {
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

function exceeded(which: LimitName, limit: number | undefined, spent: number): LimitHit | undefined {
  return limit !== undefined && spent >= limit ? { which, limit, spent } : undefined;
}
