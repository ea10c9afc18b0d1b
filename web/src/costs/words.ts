import { allTokens, cacheRate, sum, type Billing, type Sums } from "./sums.ts";
import type { WireLedgerLine } from "../../../src/client/index.ts";
import { money, percent, thousands } from "../../../src/words/amounts.ts";

/** Who pays, in a few words. */
export const PAYERS: Readonly<Record<Billing, string>> = {
  paid: "Paid by use",
  included: "Included in a subscription",
  rehearsal: "Rehearsal",
};

/** What an amount of money means that is billed so. */
export const MEANINGS: Readonly<Record<Billing, string>> = {
  paid: "Spent at list price.",
  included: "Not billed by use: what it would cost at list price.",
  rehearsal: "Nothing was spent: what the model it stood in for would have cost.",
};

/** With a sign when more was spent than is known. */
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
