import type { TurnEnd } from "../core/engine.ts";
import type { EventDraft } from "../core/events.ts";
import type { SessionState } from "../core/state.ts";

/** The session's spend so far as the gateway metered it, beside what the engine counted for the turn just ended. */
export function usageEvent({ usage, usd }: SessionState, engine: TurnEnd["usage"]): EventDraft<"session.usage"> {
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
