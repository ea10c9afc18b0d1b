/** Days in a named time zone. They have 23 to 25 hours, and start by the local clock. */

/** Milliseconds. Spend is summed in buckets of this length; every zone's midnight is on a bucket boundary. */
export const BUCKET_MS = 900_000;
/** No day is longer, even where a zone skipped or repeated a day. */
const LONGEST_DAY_BUCKETS = 50 * 4;

export function bucketOf(at: number): number {
  return Math.floor(at / BUCKET_MS);
}

/** The date at an instant, such as `2026-11-15`. */
export function dayOf(at: number, timeZone: string): string {
  return formatFor(timeZone).format(at);
}

/** The first bucket of the day of an instant. */
export function dayStart(at: number, timeZone: string): number {
  const today = dayOf(at, timeZone);
  const now = bucketOf(at);
  let before = now - LONGEST_DAY_BUCKETS;
  let within = now;
  // Dates only increase, so a binary search finds the boundary.
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
  // Swedish dates use the ISO format.
  const made = new Intl.DateTimeFormat("sv-SE", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  formats.set(timeZone, made);
  return made;
}
