import type { TurnEnd } from "../../../core/ports/engine.ts";
import { listPrice } from "../../../core/money/pricing.ts";
import type { PriceEntry } from "../../../core/money/prices.ts";
import type { Answer, AnswerUsage } from "./wire.ts";

/** What all threads of a session have used since the last turn ended, per model. */
export class Tally {
  readonly #prices: readonly PriceEntry[] | undefined;
  readonly #models = new Map<string, { input_tokens: number; output_tokens: number; usd: number }>();

  #usd = 0;

  constructor(prices?: readonly PriceEntry[]) {
    this.#prices = prices;
  }

  add({ model, usage, stopReason }: Pick<Answer, "model" | "usage" | "stopReason">): void {
    if (stopReason === null && usage.output_tokens === 0) return;
    const sum = this.#models.get(model) ?? { input_tokens: 0, output_tokens: 0, usd: 0 };
    sum.input_tokens += inputOf(usage);
    sum.output_tokens += usage.output_tokens;
    const usd = listPrice(model, usage, this.#prices) ?? 0;
    sum.usd += usd;
    this.#usd += usd;
    this.#models.set(model, sum);
  }

  /** Total cost of all turns. */
  get usd(): number {
    return this.#usd;
  }

  /** Resets the counters. */
  take(): TurnEnd["usage"] {
    const usage = Object.fromEntries(this.#models);
    this.#models.clear();
    return usage;
  }
}

/** Includes cached tokens. */
export function inputOf(usage: AnswerUsage): number {
  return usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
}
