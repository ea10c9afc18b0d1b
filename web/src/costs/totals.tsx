import { TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { WireLedgerLine } from "../../../src/client/index.ts";
import { Card } from "../parts/page.tsx";
import { Pill } from "../parts/tone.tsx";
import { type Range, useSpending } from "./ledger-query.ts";
import { allTokens, type Billing, cacheRate, sum } from "./sums.ts";
import { MEANINGS, PAYERS, price } from "./words.ts";
import { count as counted, percent, thousands } from "../../../src/words/amounts.ts";

/** Totals for the range, with warnings about unknown and estimated figures. */
export function Totals({
  lines,
  billing,
  range,
  zone,
}: {
  readonly lines: readonly WireLedgerLine[];
  readonly billing: Billing;
  readonly range: Range;
  readonly zone: string | undefined;
}) {
  const all = sum(lines);
  const rate = cacheRate(all);
  return (
    <>
      <dl className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Tile
          title="Cost"
          badge={<Pill tone={billing === "paid" ? "accent" : "quiet"}>{PAYERS[billing]}</Pill>}
          value={price(all)}
          note={MEANINGS[billing]}
        />
        <Tile
          title="Tokens"
          value={thousands(allTokens(all))}
          note={`${thousands(all.input)} in, ${thousands(all.output)} out, ${thousands(all.cacheRead)} cache read, ${thousands(all.cacheWrite)} cache write`}
        />
        <Tile
          title="Cache hit rate"
          value={rate === null ? "–" : percent(rate)}
          note="of input tokens read from the cache"
        />
        <Tile
          title="Model requests"
          value={thousands(all.requests)}
          note={all.searches === 0 ? `in ${range} days` : `in ${range} days; web searches: ${thousands(all.searches)}`}
        />
      </dl>
      {all.unpriced > 0 && <Unpriced count={all.unpriced} billing={billing} range={range} zone={zone} />}
      {all.estimated > 0 && (
        <Notice>
          {counted(all.estimated, "request")} {all.estimated === 1 ? "was" : "were"} interrupted:{" "}
          {all.estimated === 1 ? "its" : "their"} tokens and cost are estimated.
        </Notice>
      )}
    </>
  );
}

function Unpriced({
  count,
  billing,
  range,
  zone,
}: {
  readonly count: number;
  readonly billing: Billing;
  readonly range: Range;
  readonly zone: string | undefined;
}) {
  const { data } = useSpending({ by: "model" }, range, zone);
  const models = data?.lines.filter((line) => line.billing === billing && line.unpriced_requests > 0) ?? [];
  return (
    <Notice>
      {counted(count, "request")} used a model without a known price
      {models.length > 0 && (
        <>
          {" "}
          (<bdi className="font-mono text-xs">{models.map(({ key }) => key).join(", ")}</bdi>)
        </>
      )}
      . {count === 1 ? "Its" : "Their"} cost is not included in the amounts marked ≥. Add the price under{" "}
      <code className="font-mono text-xs">prices</code> in the settings.
    </Notice>
  );
}

function Notice({ children }: { readonly children: ReactNode }) {
  return (
    <p className="flex gap-2 rounded-lg border border-waiting/40 bg-waiting-soft px-3 py-2 text-sm">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-waiting" />
      <span className="min-w-0 break-words">{children}</span>
    </p>
  );
}

function Tile({
  title,
  badge,
  value,
  note,
}: {
  readonly title: string;
  readonly badge?: ReactNode;
  readonly value: string;
  readonly note: string;
}) {
  return (
    <Card className="flex min-w-0 flex-col gap-1 p-3">
      <dt className="flex min-h-5 flex-wrap items-center justify-between gap-1 text-xs font-medium text-muted">
        {title}
        {badge}
      </dt>
      <dd data-figure className="text-xl font-semibold">
        {value}
      </dd>
      <dd className="text-xs text-faint">{note}</dd>
    </Card>
  );
}
