import { allTokens, cacheRate, sum, type Billing, type Sums } from "./sums.ts";
import type { WireLedgerLine } from "../../../src/client/index.ts";
import { money, percent, thousands } from "../../../src/words/amounts.ts";

/** The kinds of billing. */
export const PAYERS: Readonly<Record<Billing, string>> = {
  paid: "Pay as you go",
  included: "Included in subscription",
  rehearsal: "Rehearsal",
};

/** What an amount means for each kind of billing. */
export const MEANINGS: Readonly<Record<Billing, string>> = {
  paid: "Billed at list price.",
  included: "Not billed separately. This is what it would cost at list price.",
  rehearsal: "Nothing was spent. This is what the real model would have cost.",
};

/** With ≥ if some prices are unknown. */
export function price({ usd: amount, unpriced }: Pick<Sums, "usd" | "unpriced">): string {
  return unpriced === 0 ? money(amount) : `≥ ${money(amount)}`;
}

export function priceOfLine(line: WireLedgerLine): string {
  return price({ usd: line.usd, unpriced: line.unpriced_requests });
}

export function tokensOfLine(line: WireLedgerLine): string {
  return thousands(allTokens(sum([line])));
}

export function rateOfLine(line: WireLedgerLine): string {
  const rate = cacheRate(sum([line]));
  return rate === null ? "–" : percent(rate);
}
