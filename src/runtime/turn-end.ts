import type { Budget } from "../core/agent-definition.ts";
import type { LimitHit } from "../core/budget.ts";
import type { TurnEnd } from "../core/engine.ts";
import type { EventDraft } from "../core/events.ts";
import type { SessionState } from "../core/state.ts";
import { tellTurnEnd } from "../core/stop-reason.ts";
import { settleOpenWork } from "./recovery.ts";

/** Everything the log says when a turn is over. `limit` is the one that the runtime itself ended the turn at. */
export function turnEndEvents(
  state: SessionState,
  { end, budget, limit }: { end: TurnEnd; budget: Budget; limit: LimitHit | undefined },
): EventDraft[] {
  const open = settleOpenWork(state);
  if (state.status !== "running") return open;
  const { before, stopReason } = tellTurnEnd(end, limit ?? limitOf(end, { budget, state }));
  const output = stopReason.type === "end_turn" && end.output !== undefined ? { output: end.output } : {};
  return [
    ...open,
    usageEvent(state, end.usage),
    ...before,
    { type: "session.status_idle", stop_reason: stopReason, stop_details: null, ...output },
  ];
}

/** The engine ended the turn at a limit that it keeps itself. */
function limitOf(end: TurnEnd, { budget, state }: { budget: Budget; state: SessionState }): LimitHit | undefined {
  if (end.outcome === "steps") return { which: "steps", limit: budget.steps ?? 0, spent: budget.steps ?? 0 };
  if (end.outcome === "budget") return { which: "usd", limit: budget.usd ?? 0, spent: state.usd };
  return undefined;
}

/** The session's spend so far as the gateway metered it, beside what the engine counted for the turn just ended. */
function usageEvent({ usage, usd }: SessionState, engine: TurnEnd["usage"]): EventDraft<"session.usage"> {
  return {
    type: "session.usage",
    usage: {
      input_tokens: usage.input_tokens,
      output_tokens: usage.output_tokens,
      cache_read_input_tokens: usage.cache_read_input_tokens,
      cache_creation: { ephemeral_5m_input_tokens: usage.cache_creation_input_tokens },
      list_cost: { amount: String(Math.round(usd * 100)), currency: "USD" },
      usd,
      engine,
    },
  };
}
