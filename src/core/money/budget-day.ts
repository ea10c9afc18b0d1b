/** Days in a named time zone. They are 23 to 25 hours long, and begin when the clocks there say so. */

/** Spend is added up in pieces of this length, which every zone's midnight falls on. In milliseconds. */
export const BUCKET_MS = 900_000;
/** No day is longer, not even where a day was left out or lived twice. */
const LONGEST_DAY_BUCKETS = 50 * 4;

export function bucketOf(at: number): number {
  return Math.floor(at / BUCKET_MS);
}

/** The date at an instant, such as `2026-11-15`. */
export function dayOf(at: number, timeZone: string): string {
  return formatFor(timeZone).format(at);
}

/** The first bucket of the day that an instant lies in. */
export function dayStart(at: number, timeZone: string): number {
  const today = dayOf(at, timeZone);
  const now = bucketOf(at);
  let before = now - LONGEST_DAY_BUCKETS;
  let within = now;
  // Dates only grow, so that halving finds the border.
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (dayOf(middle * BUCKET_MS, timeZone) === today) within = middle;
    else before = middle;
  }
  return within;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatFor(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  // Sweden writes dates as ISO does.
  const made = new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  formats.set(timeZone, made);
  return made;
}
