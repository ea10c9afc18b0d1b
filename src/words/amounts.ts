/** Formats money, durations, sizes and counts, the same in the terminal, the reports and the console. */

/** Such as `1,234,567`. Without `Intl`, whose first use takes as long as starting Node. */
export function thousands(value: number): string {
  const [whole = "", ...fraction] = String(value).split(".");
  return [whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ","), ...fraction].join(".");
}

/** A number with its noun: `1 file`, `12,000 tokens`. */
export function count(value: number, noun: string, plural = `${noun}s`): string {
  return `${thousands(value)} ${value === 1 ? noun : plural}`;
}

/** For narrow spaces only: `950`, `12.3k`, `1.2M`. */
export function compactCount(value: number): string {
  if (value < 1_000) return String(value);
  const [size, unit] = value < 999_500 ? [1_000, "k"] : [1_000_000, "M"];
  const amount = value / size;
  return `${Number(amount.toFixed(amount < 9.95 ? 1 : 0))}${unit}`;
}

/** `$0.02`; below one cent with two significant digits: `$0.0042`. */
export function money(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0) return `-${money(-usd)}`;
  if (usd < 0.000_1) return "<$0.0001";
  if (usd < 0.009_95) return `$${usd.toPrecision(2)}`;
  return withCents(usd.toFixed(2));
}

/** With up to six decimals, for sums that are compared: rounding could make them look the same. */
export function preciseMoney(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0) return `-${preciseMoney(-usd)}`;
  return withCents(usd.toFixed(6).replace(/(\.\d\d\d*?)0+$/, "$1"));
}

function withCents(amount: string): string {
  const [dollars = "", cents = ""] = amount.split(".");
  return `$${thousands(Number(dollars))}.${cents}`;
}

/**
 * `530 ms`, `1.5 s`, `2 min 5 s`, `1 h 30 min`, `7 d`. Negative durations, from a clock that jumped back, are `0 ms`.
 */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 59_950) return `${Number((whole / 1_000).toFixed(1))} s`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 3_600) return pair(seconds, 60, "min", 1, "s");
  return seconds < 86_400 ? pair(seconds, 3_600, "h", 60, "min") : pair(seconds, 86_400, "d", 3_600, "h");
}

function pair(seconds: number, large: number, unit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % large) / small);
  const first = `${Math.floor(seconds / large)} ${unit}`;
  return rest === 0 ? first : `${first} ${rest} ${smallUnit}`;
}

/** How long ago, in one unit. The future, from clocks of other machines, is now. */
export function ago(ms: number): string {
  const seconds = ms / 1_000;
  if (seconds < 45) return "just now";
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 79_200) return `${Math.round(seconds / 3_600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}

/** Powers of a thousand, as for disks. */
const SIZES: readonly (readonly [unit: string, size: number])[] = [
  ["TB", 1e12],
  ["GB", 1e9],
  ["MB", 1e6],
  ["kB", 1e3],
];

/** `512 B`, `1.4 MB`, `120 GB`. */
export function size(bytes: number): string {
  // An amount that rounds up to a thousand uses the next unit.
  const [unit, one] = SIZES.find(([, least]) => bytes >= least * 0.9995) ?? ["B", 1];
  const amount = bytes / one;
  return `${unit === "B" || amount >= 99.95 ? Math.round(amount) : amount.toFixed(1)} ${unit}`;
}

/** `80%`, `33.3%`. */
export function percent(share: number): string {
  return `${Math.round(share * 1_000) / 10}%`;
}
