import { setImmediate as nextTick } from "node:timers/promises";
import type { LoggedEvent } from "../../core/events/events.ts";

/** A page of a log ends at this size in bytes, however many events were requested. It has at least one event. */
export const PAGE_BYTES = 4 * 1_048_576;
/** Events in memory at once, besides those of the page. */
const STEP = 50;

interface PageRequest<Shown> {
  readonly after: number;
  /** At most this many events are read. */
  readonly limit: number;
  readonly read: (range: { readonly after: number; readonly limit: number }) => Promise<readonly LoggedEvent[]>;
  /** Returns undefined for events to leave out. */
  readonly show: (event: LoggedEvent) => Shown | undefined;
}

/** Reads a page of a log in steps. `next` is the position to continue after; null at the end. */
export async function readEventPage<Shown>({
  after,
  limit,
  read,
  show,
}: PageRequest<Shown>): Promise<{ readonly data: Shown[]; readonly next: number | null }> {
  const data: Shown[] = [];
  let [seq, looked, bytes] = [after, 0, 0];
  while (looked < limit) {
    const wanted = Math.min(STEP, limit - looked);
    const events = await read({ after: seq, limit: wanted });
    for (const event of events) {
      const shown = show(event);
      const size = shown === undefined ? 0 : roughSize(shown);
      if (data.length > 0 && bytes + size > PAGE_BYTES) return { data, next: seq };
      bytes += size;
      if (shown !== undefined) data.push(shown);
      seq = event.seq;
    }
    if (events.length < wanted) return { data, next: null };
    looked += events.length;
    await nextTick();
  }
  return { data, next: seq };
}

/** Approximate size in bytes. */
export function roughSize(shown: unknown): number {
  return JSON.stringify(shown).length;
}
