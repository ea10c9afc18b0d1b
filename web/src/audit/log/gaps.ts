import type { LogRows } from "./log-reader.ts";

/** User messages have no time, and rarely more than a few follow each other. */
const BACK = 4;

/** In milliseconds since the previous row with a time; undefined if unknown. */
export function gapBefore(log: Pick<LogRows, "event">, index: number): number | undefined {
  const own = log.event(index)?.processed_at;
  if (own === null || own === undefined) return undefined;
  for (let back = 1; back <= BACK; back += 1) {
    const before = log.event(index - back)?.processed_at;
    // A clock that was set back must not give a negative gap.
    if (before !== null && before !== undefined) return Math.max(0, Date.parse(own) - Date.parse(before));
  }
  return undefined;
}
