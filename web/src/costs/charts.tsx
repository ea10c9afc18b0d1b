import { type ReactNode, useMemo } from "react";
import { type Series, sumAt } from "../parts/chart/chart-data.ts";
import { Chart } from "../parts/chart/chart.tsx";
import { longDay, shortDay } from "./days.ts";
import type { Spending } from "./ledger-query.ts";
import { allTokens, type Billing, cacheRate, rateByDay, seriesByPart, sum, type Sums } from "./sums.ts";
import { PAYERS, price } from "./words.ts";
import { percent, thousands } from "../../../src/words/amounts.ts";

/** Cost, tokens and cache hits by day, for one kind of billing. */
export function CostCharts({
  spending: { days, lines },
  billing,
  by,
  children,
}: {
  readonly spending: Spending;
  readonly billing: Billing;
  readonly by: "agent" | "model" | "project";
  /** Shown beside the last chart. */
  readonly children: ReactNode;
}) {
  const all = useMemo(() => sum(lines), [lines]);
  const common = useMemo(() => ({ places: days.map(shortDay), names: days.map(longDay), placeTitle: "Day" }), [days]);
  const money = useMemo(() => seriesByPart(lines, days, ofUsd), [lines, days]);
  const used = useMemo(() => seriesByPart(lines, days, allTokens), [lines, days]);
  const rate = useMemo((): Series[] => [{ name: "Cache hit rate", values: rateByDay(lines, days) }], [lines, days]);
  const payer = PAYERS[billing].toLowerCase();
  const overall = cacheRate(all);
  const span = `in ${days.length} days`;
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <Chart
        title={`Cost by ${by}`}
        about={`US dollars per day, at list price. ${PAYERS[billing]}.`}
        {...common}
        series={money}
        unit="usd"
        look="bars"
        label={`Cost by ${by}, ${payer}: ${price(all)} ${span}${most(days, money, (value) => price({ ...all, usd: value }))}`}
      />
      <Chart
        title={`Tokens by ${by}`}
        about={`Input, output and cache tokens per day. ${PAYERS[billing]}.`}
        {...common}
        series={used}
        unit="tokens"
        look="bars"
        label={`Tokens by ${by}, ${payer}: ${thousands(allTokens(all))} ${span}${most(days, used, thousands)}`}
      />
      <Chart
        title="Cache hit rate"
        about={`Share of input tokens read from the cache. ${PAYERS[billing]}. Overall: ${overall === null ? "no input yet" : percent(overall)}.`}
        {...common}
        series={rate}
        unit="share"
        look="line"
        label={`Cache hit rate by day, ${payer}: ${overall === null ? "no input" : `${percent(overall)} overall`} ${span}`}
      />
      {children}
    </div>
  );
}

function ofUsd({ usd }: Sums): number {
  return usd;
}

/** The day with the highest value, for screen readers. */
function most(days: readonly string[], series: readonly Series[], valueText: (value: number) => string): string {
  const sums = days.map((_, place) => sumAt(series, place));
  const highest = Math.max(0, ...sums);
  const day = days[sums.indexOf(highest)];
  return highest === 0 || day === undefined ? "" : `, most on ${longDay(day)} with ${valueText(highest)}`;
}
