import { differenceOfMedians, type Estimate, median, medianOf, ratioOfMedians } from "./statistics.ts";

/** One line of the table. */
export interface Row {
  readonly name: string;
  /** What is measured, and against what. */
  readonly what: string;
  readonly samples: number;
  readonly medians: readonly [string, string];
  /** With its 95 % interval. */
  readonly result: string;
  readonly limit: string;
  readonly verdict: "ok" | "MISSED" | "";
}

export interface BenchCase {
  readonly name: string;
  readonly run: () => Promise<readonly Row[]>;
}

interface Comparison {
  readonly name: string;
  readonly what: string;
  /** Milliseconds. */
  readonly measured: readonly number[];
  readonly against: readonly number[];
}

/** The ratio of the two sides' times. */
export function ratioRow(comparison: Comparison, limit?: number): Row {
  const ratio = ratioOfMedians(comparison.measured, comparison.against);
  const judgement = limit === undefined ? NO_LIMIT : judge(`<= ${limit} x`, ratio.value <= limit);
  return { ...describeComparison(comparison), result: estimateText(ratio, factor, "x"), ...judgement };
}

/** For sides that should not differ: the difference must be within the noise, or at most two percent. */
export function sameRow(comparison: Comparison): Row {
  const ratio = ratioOfMedians(comparison.measured, comparison.against);
  const judgement = judge("1 inside, or <= 1.02 x", ratio.low <= 1 || ratio.value <= 1.02);
  return {
    ...describeComparison(comparison),
    result: estimateText(ratio, (value) => value.toFixed(3), "x"),
    ...judgement,
  };
}

export function differenceRow(comparison: Comparison, limit?: number): Row {
  const difference = differenceOfMedians(comparison.measured, comparison.against);
  const judgement = limit === undefined ? NO_LIMIT : judge(`<= ${limit} ms`, difference.value <= limit);
  return {
    ...describeComparison(comparison),
    result: estimateText(difference, (value) => value.toFixed(2), "ms"),
    ...judgement,
  };
}

/** Events a second, from the milliseconds for each `batch` of them. */
export function rateRow(
  { name, what, times, batch }: { name: string; what: string; times: readonly number[]; batch: number },
  limit?: number,
): Row {
  const rate = medianOf(times.map((time) => (batch / time) * 1_000));
  const judgement = limit === undefined ? NO_LIMIT : judge(`>= ${whole(limit)} /s`, rate.value >= limit);
  const each = `${(median(times) / batch).toFixed(3)} ms each`;
  return {
    name,
    what,
    samples: times.length,
    medians: [each, ""],
    result: estimateText(rate, whole, "/s"),
    ...judgement,
  };
}

/** A count taken once, with its upper limit. */
export function countRow({ name, what, count }: { name: string; what: string; count: number }, atMost: number): Row {
  return {
    name,
    what,
    samples: 1,
    medians: ["", ""],
    result: String(count),
    ...judge(`<= ${atMost}`, count <= atMost),
  };
}

interface Measured {
  readonly name: string;
  readonly what: string;
  readonly measured: number;
  readonly against: number;
  readonly unit: string;
}

/** The ratio of two figures, each taken once. */
export function factorRow(
  { name, what, measured, against, unit }: Measured,
  limit: { readonly atMost: number } | { readonly atLeast: number },
): Row {
  const ratio = measured / against;
  const judgement =
    "atMost" in limit
      ? judge(`<= ${limit.atMost} x`, ratio <= limit.atMost)
      : judge(`>= ${limit.atLeast} x`, ratio >= limit.atLeast);
  const medians = [`${whole(measured)} ${unit}`, `${whole(against)} ${unit}`] as const;
  return { name, what, samples: 1, medians, result: `${factor(ratio)} x`, ...judgement };
}

type Judgement = Pick<Row, "limit" | "verdict">;

const NO_LIMIT: Judgement = { limit: "", verdict: "" };

function judge(limit: string, ok: boolean): Judgement {
  return { limit, verdict: ok ? "ok" : "MISSED" };
}

function describeComparison({
  name,
  what,
  measured,
  against,
}: Comparison): Pick<Row, "name" | "what" | "samples" | "medians"> {
  return { name, what, samples: measured.length, medians: [ms(measured), ms(against)] };
}

function ms(values: readonly number[]): string {
  return `${median(values).toFixed(1)} ms`;
}

function factor(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function estimateText({ value, low, high }: Estimate, format: (value: number) => string, unit: string): string {
  return `${format(value)} ${unit} [${format(low)}, ${format(high)}]`;
}
