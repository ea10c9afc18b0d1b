import { money } from "../terminal/text.ts";

/** Less than adding up can tell from nothing. */
const DUST = 1e-9;

interface Cost {
  readonly usd: number;
  readonly includedUsd?: number;
  readonly rehearsalUsd?: number;
  readonly unpricedRequests?: number;
}

/** What was paid; beside it, and never in it, what a subscription covers, what the scripted model did and what nobody knows. */
export function cost({ usd, includedUsd = 0, rehearsalUsd = 0, unpricedRequests = 0 }: Cost): string {
  const paid = usd - includedUsd - rehearsalUsd;
  const parts = [
    ...(paid > DUST ? [money(paid)] : []),
    ...(includedUsd > 0 ? [`${money(includedUsd)} included`] : []),
    ...(rehearsalUsd > 0 ? [`${money(rehearsalUsd)} rehearsal`] : []),
    ...(unpricedRequests > 0 ? ["unknown"] : []),
  ];
  return parts.length === 0 ? money(0) : parts.join(" + ");
}
