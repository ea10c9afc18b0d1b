import { money } from "../../../../src/words/amounts.ts";

interface Amounts {
  readonly usd: number;
  /** Parts of `usd`: covered by a subscription, and rehearsal costs that nobody pays. */
  readonly included_usd?: number | undefined;
  readonly rehearsal_usd?: number | undefined;
  readonly unpriced_requests?: number | undefined;
}

/** A cost, marked if it is incomplete or not actually paid. */
export function Price({ of, limit }: { readonly of: Amounts; readonly limit?: number | undefined }) {
  const { included_usd: included = 0, rehearsal_usd: rehearsal = 0, unpriced_requests: unpriced = 0 } = of;
  const notes = [
    ...(rehearsal > 0 ? [part("rehearsal", rehearsal, of.usd)] : []),
    ...(included > 0 ? [part("included", included, of.usd)] : []),
  ];
  return (
    <span data-figure title={unpriced > 0 ? `${unpriced} requests have no known price` : undefined}>
      {unpriced > 0 && "≥ "}
      {money(of.usd)}
      {limit !== undefined && ` of ${money(limit)}`}
      {notes.length > 0 && <span className="text-xs text-faint"> {notes.join(", ")}</span>}
    </span>
  );
}

function part(word: string, amount: number, whole: number): string {
  return amount >= whole ? word : `${money(amount)} ${word}`;
}
