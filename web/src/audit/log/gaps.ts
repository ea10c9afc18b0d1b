import type { LogRows } from "./log-reader.ts";

/** Messages of users have no time of their own, and seldom stand more than a few after each other. */
const BACK = 4;

/** In milliseconds since the row before that has a time; undefined when that is not known. */
export function gapBefore(log: Pick<LogRows, "event">, index: number): number | undefined {
  const own = log.event(index)?.processed_at;
  if (own === null || own === undefined) return undefined;
  for (let back = 1; back <= BACK; back += 1) {
    const before = log.event(index - back)?.processed_at;
    // A clock that was set back makes no negative gap.
    if (before !== null && before !== undefined) return Math.max(0, Date.parse(own) - Date.parse(before));
  }
  return undefined;
}
