import type { WireLedgerLine } from "../../../src/client/index.ts";
import { type Series, withRest } from "../parts/chart/chart-data.ts";

export type Billing = WireLedgerLine["billing"];

/** Totals of ledger lines of one billing. */
export interface Sums {
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly searches: number;
  readonly usd: number;
  readonly unpriced: number;
  readonly estimated: number;
}

export function sum(lines: readonly WireLedgerLine[]): Sums {
  const of = (figure: (line: WireLedgerLine) => number): number => lines.reduce((all, line) => all + figure(line), 0);
  return {
    requests: of((line) => line.requests),
    input: of((line) => line.input_tokens),
    output: of((line) => line.output_tokens),
    cacheRead: of((line) => line.cache_read_tokens),
    cacheWrite: of((line) => line.cache_write_tokens),
    searches: of((line) => line.web_searches),
    usd: of((line) => line.usd),
    unpriced: of((line) => line.unpriced_requests),
    estimated: of((line) => line.estimated_requests),
  };
}

export function allTokens({ input, output, cacheRead, cacheWrite }: Sums): number {
  return input + output + cacheRead + cacheWrite;
}

/** The share of input tokens read from the cache; null without input. */
export function cacheRate({ input, cacheRead, cacheWrite }: Sums): number | null {
  const all = input + cacheRead + cacheWrite;
  return all === 0 ? null : cacheRead / all;
}

/** The kinds of billing, most requests first. Never add them up. */
export function billingsIn(lines: readonly WireLedgerLine[]): { readonly billing: Billing; readonly sums: Sums }[] {
  return [...Map.groupBy(lines, ({ billing }) => billing)]
    .map(([billing, some]) => ({ billing, sums: sum(some) }))
    .filter(({ sums }) => sums.requests > 0)
    .toSorted((a, b) => b.sums.requests - a.sums.requests);
}

/** One series per part, by day, the most expensive first in every chart, so that each part keeps its color. */
export function seriesByPart(
  lines: readonly WireLedgerLine[],
  days: readonly string[],
  figure: (sums: Sums) => number,
): Series[] {
  const parts = [...Map.groupBy(lines, ({ part }) => part ?? "")]
    .map(([name, some]) => ({ name, some, all: sum(some) }))
    .toSorted((a, b) => b.all.usd - a.all.usd || allTokens(b.all) - allTokens(a.all));
  return withRest(
    parts.map(({ name, some }) => {
      const byDay = Map.groupBy(some, ({ key }) => key);
      return { name, values: days.map((day) => figure(sum(byDay.get(day) ?? []))) };
    }),
  );
}

/** The cache hit rate per day; null for days without input. */
export function rateByDay(lines: readonly WireLedgerLine[], days: readonly string[]): (number | null)[] {
  const byDay = Map.groupBy(lines, ({ key }) => key);
  return days.map((day) => cacheRate(sum(byDay.get(day) ?? [])));
}

/** The most expensive lines; without known prices, those with the most tokens. */
export function dearest(lines: readonly WireLedgerLine[], count: number): WireLedgerLine[] {
  return lines.toSorted((a, b) => b.usd - a.usd || allTokens(sum([b])) - allTokens(sum([a]))).slice(0, count);
}
