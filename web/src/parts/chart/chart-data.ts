/** The data of a chart and the arithmetic of drawing it, without the drawing. */

export interface Series {
  readonly name: string;
  /** One per position on the x axis; null if there is no value. */
  readonly values: readonly (number | null)[];
  /** Whether it combines all series too small to be shown separately. */
  readonly isRest?: boolean;
}

export type Unit = "usd" | "tokens" | "share";

const MAX_SERIES = 6;
const REST = "Other";

/** The first series, with the rest combined into one. */
export function withRest(series: readonly Series[]): Series[] {
  const rest = series.slice(MAX_SERIES);
  if (rest.length === 0) return [...series];
  const places = series[0]?.values.length ?? 0;
  const values = Array.from({ length: places }, (_, place) => sumAt(rest, place));
  return [...series.slice(0, MAX_SERIES), { name: `${REST} (${rest.length})`, values, isRest: true }];
}

export function total({ values }: Series): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}

/** The sum of all series at one position. */
export function sumAt(series: readonly Series[], place: number): number {
  return series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0);
}

/**
 * For stacked bars: every series plus those below it, the highest first, so that each is painted over the previous one.
 * Bars without height are left out.
 */
export function stack(series: readonly Series[]): (number | null)[][] {
  return series
    .map(({ values }, index) => values.map((value, place) => (value ? sumAt(series.slice(0, index + 1), place) : null)))
    .toReversed();
}

/** The positions to label below the chart: as many as fit, evenly spaced, including the last. */
export function labelPositions(places: number, room: number): number[] {
  const every = Math.max(1, Math.ceil(places / Math.max(1, room)));
  return Array.from({ length: places }, (_, place) => place).filter((place) => (places - 1 - place) % every === 0);
}

/** The top of an axis, a little above the highest value; above zero even without values. */
export function axisTop(highest: number, unit: Unit): number {
  if (unit === "share") return 1;
  const least = unit === "usd" ? 0.001 : 10;
  return Math.max(least, highest * 1.08);
}

/** Tick labels of an axis, all with the same number of digits and with their unit. */
export function tickNames(ticks: readonly number[], unit: Unit): string[] {
  const step = Math.abs((ticks[1] ?? 1) - (ticks[0] ?? 0)) || 1;
  if (unit === "share") return ticks.map((tick) => `${Math.round(tick * 100)}%`);
  if (unit === "usd") {
    const digits = step >= 1 ? 0 : Math.min(6, Math.max(2, Math.ceil(-Math.log10(step) - 1e-9)));
    return ticks.map((tick) => (tick === 0 ? "$0" : `$${tick.toFixed(digits)}`));
  }
  const [size, mark] = step >= 500_000 ? [1_000_000, "M"] : step >= 500 ? [1_000, "k"] : [1, ""];
  return ticks.map((tick) => (tick === 0 ? "0" : `${trimDecimals(tick / size)}${mark}`));
}

function trimDecimals(value: number): string {
  return String(Math.round(value * 100) / 100);
}
