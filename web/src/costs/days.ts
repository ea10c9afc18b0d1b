/** Days as the ledger writes them, such as `2026-03-01`, and when they start. */

const DAY_MS = 86_400_000;
/** The largest offset from UTC. */
const FURTHEST_MS = 15 * 3_600_000;

/** The current day in a time zone. */
export function dayIn(ms: number, zone: string): string {
  // Swedish dates have the ledger's format.
  return new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" }).format(ms);
}

/** The last `count` days including today, oldest first. */
export function lastDays(count: number, now: number, zone: string): string[] {
  const today = Date.parse(dayIn(now, zone));
  return Array.from({ length: count }, (_, index) => isoDay(today - (count - 1 - index) * DAY_MS));
}

/** Adds days that only a server whose clock is ahead knows. */
export function withLater(days: readonly string[], known: readonly string[]): string[] {
  const last = days.at(-1) ?? "";
  return [...days, ...[...new Set(known)].filter((day) => day > last).toSorted()];
}

/** The start of a day, in milliseconds. Found by search, because daylight saving can skip midnight. */
export function startOf(day: string, zone: string): number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short" });
  let before = Date.parse(day) - FURTHEST_MS;
  let after = Date.parse(day) + FURTHEST_MS;
  while (after - before > 1_000) {
    const middle = Math.floor((before + after) / 2_000) * 1_000;
    if (format.format(middle) < day) before = middle;
    else after = middle;
  }
  return after;
}

/** The settings' zone, which daily limits use; otherwise the browser's. */
export function chosenZone(ofSettings: string | undefined, ofBrowser: string): string {
  return ofSettings !== undefined && isKnown(ofSettings) ? ofSettings : ofBrowser;
}

function isKnown(zone: string): boolean {
  try {
    return dayIn(0, zone) !== "";
  } catch {
    return false;
  }
}

const short = new Intl.DateTimeFormat("en-US", { timeZone: "UTC", month: "short", day: "numeric" });
const long = new Intl.DateTimeFormat("en-US", {
  timeZone: "UTC",
  weekday: "short",
  month: "short",
  day: "numeric",
  year: "numeric",
});

export function shortDay(day: string): string {
  return short.format(Date.parse(day));
}

export function longDay(day: string): string {
  return long.format(Date.parse(day));
}

function isoDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
