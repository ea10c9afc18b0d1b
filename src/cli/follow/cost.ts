import { money } from "../terminal/text.ts";

/** Rounding errors of sums stay below this. */
const EPSILON = 1e-9;

interface Cost {
  readonly usd: number;
  readonly includedUsd?: number;
  readonly rehearsalUsd?: number;
  readonly unpricedRequests?: number;
}

/** The amount paid, and separately what a subscription covers, what the scripted model did, and unknown prices. */
export function costText({ usd, includedUsd = 0, rehearsalUsd = 0, unpricedRequests = 0 }: Cost): string {
  const paid = usd - includedUsd - rehearsalUsd;
  const parts = [
    ...(paid > EPSILON ? [money(paid)] : []),
    ...(includedUsd > 0 ? [`${money(includedUsd)} included`] : []),
    ...(rehearsalUsd > 0 ? [`${money(rehearsalUsd)} rehearsal`] : []),
    ...(unpricedRequests > 0 ? ["unknown"] : []),
  ];
  return parts.length === 0 ? money(0) : parts.join(" + ");
}
