import type { LoggedEvent, ModelUsage } from "../../../core/events/events.ts";
import { addUsage } from "../../../core/session/state-spend.ts";
import { initialState } from "../../../core/session/state.ts";

/** Adds up a session's usage from its log. */
export class Meter {
  #usage: ModelUsage = initialState.usage;
  #requests = 0;
  /** Input and output tokens of the last request on the primary thread. */
  #context: number | undefined;
  readonly #usd = { paid: 0, included: 0, rehearsal: 0 };
  #unpriced = 0;

  see(event: LoggedEvent): void {
    if (event.type === "agent.thread_context_compacted" && event.session_thread_id == null)
      this.#context = event.tokens_after;
    if (event.type !== "span.model_request_end") return;
    const { model_usage: usage, usd, billing = "paid", session_thread_id: thread } = event;
    this.#usage = addUsage(this.#usage, usage);
    this.#requests += 1;
    this.#usd[billing] += usd ?? 0;
    if (usd === null) this.#unpriced += 1;
    const used = promptTokens(usage) + usage.output_tokens;
    // A failed request uses nothing and leaves the context unchanged.
    if (thread == null && event.request_class === "main" && used > 0) this.#context = used;
  }

  get usage(): ModelUsage {
    return this.#usage;
  }

  get requests(): number {
    return this.#requests;
  }

  get context(): number | undefined {
    return this.#context;
  }

  /** The arguments for `cost`. */
  get spent(): { usd: number; includedUsd: number; rehearsalUsd: number; unpricedRequests: number } {
    const { paid, included, rehearsal } = this.#usd;
    return {
      usd: paid + included + rehearsal,
      includedUsd: included,
      rehearsalUsd: rehearsal,
      unpricedRequests: this.#unpriced,
    };
  }
}

/** All input tokens, cached or not. */
export function promptTokens(usage: ModelUsage): number {
  return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}
