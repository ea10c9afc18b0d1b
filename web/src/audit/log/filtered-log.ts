import type { ClippedEvent } from "../../../../src/client/index.ts";
import { Changing, type LogRows, type Read } from "./log-reader.ts";

/** Events searched per request: the server's maximum. */
const PAGE = 1_000;
/** Rows from an end at which the search continues. */
const NEAR = 20;
/** After this many events without a match, the search pauses until the person continues it. */
const MAX_DRY = 20_000;

/**
 * The events of a log that match a filter. Their positions are unknown in advance, so the log is searched from the
 * selected event in both directions, as far as the person scrolls.
 */
export class FilteredLog extends Changing implements LogRows {
  readonly #read: Read;
  readonly #keeps: (event: ClippedEvent) => boolean;
  #rows: readonly ClippedEvent[] = [];
  #head: number;
  /** The searched range: events after the first of these, up to the second. */
  #after: number;
  #upTo: number;
  #dry = 0;
  /** One request at a time: each starts where the last one ended. */
  #queue: Promise<unknown> = Promise.resolve();
  #isBusy = false;
  prepended = 0;
  problem: unknown;

  constructor(read: Read, head: number, keeps: (event: ClippedEvent) => boolean, from: number) {
    super();
    this.#read = read;
    this.#keeps = keeps;
    this.#head = head;
    this.#after = this.#upTo = Math.min(Math.max(0, from - 1), head);
  }

  get count(): number {
    return this.#rows.length;
  }

  get looked(): LogRows["looked"] {
    if (this.#after === 0 && this.#upTo >= this.#head) return undefined;
    return { after: this.#after, upTo: this.#upTo, isPaused: this.#dry >= MAX_DRY && !this.#isBusy };
  }

  event(index: number): ClippedEvent | undefined {
    return this.#rows[index];
  }

  indexOf(seq: number): number {
    return this.#rows.findLastIndex((event) => event.seq <= seq);
  }

  show(first: number, last: number): void {
    if (this.#isBusy || this.problem !== undefined || this.#dry >= MAX_DRY) return;
    if (last >= this.count - NEAR && this.#upTo < this.#head) void this.#look(1);
    else if (first <= NEAR && this.#after > 0) void this.#look(-1);
  }

  async next(seq: number, direction: 1 | -1): Promise<number | undefined> {
    for (;;) {
      const found =
        direction === 1 ? this.#rows.find((event) => event.seq > seq) : this.#rows.findLast((event) => event.seq < seq);
      if (found !== undefined) return found.seq;
      if (!(await this.#look(direction))) return undefined;
    }
  }

  async edge(direction: 1 | -1): Promise<number | undefined> {
    const from = direction === 1 ? this.#head : 0;
    // Keep the range searched so far.
    if (direction === 1 ? this.#upTo < this.#head : this.#after > 0) this.#restart(from);
    return this.next(direction === 1 ? from + 1 : 0, direction === 1 ? -1 : 1);
  }

  grow(head: number): void {
    if (head <= this.#head) return;
    this.#head = head;
    this.notifyListeners();
  }

  seek(seq: number): void {
    if (seq > this.#after && seq <= this.#upTo) return;
    // The next page is not a jump.
    const isNear = seq > this.#after - PAGE && seq <= this.#upTo + PAGE;
    if (isNear) void this.#look(seq > this.#upTo ? 1 : -1);
    else this.#restart(Math.max(0, seq - 1));
  }

  lookFurther(): void {
    this.#dry = 0;
    this.notifyListeners();
  }

  retry(): void {
    this.problem = undefined;
    this.notifyListeners();
  }

  #restart(from: number): void {
    this.#rows = [];
    this.#after = this.#upTo = from;
    this.#dry = 0;
    this.notifyListeners();
  }

  /** False at the end of this direction, or if reading failed. */
  #look(direction: 1 | -1): Promise<boolean> {
    this.#isBusy = true;
    const done = this.#queue.then(() => this.#lookNow(direction));
    this.#queue = done;
    return done;
  }

  async #lookNow(direction: 1 | -1): Promise<boolean> {
    const after = direction === 1 ? this.#upTo : Math.max(0, this.#after - PAGE);
    const upTo = direction === 1 ? Math.min(this.#head, after + PAGE) : this.#after;
    const before = { after: this.#after, upTo: this.#upTo };
    let isDone = false;
    try {
      if (upTo > after) {
        const found = (await this.#read(after, upTo)).filter(this.#keeps);
        // The person has jumped elsewhere meanwhile.
        if (this.#after === before.after && this.#upTo === before.upTo) {
          this.#dry = found.length > 0 ? 0 : this.#dry + upTo - after;
          this.#rows = direction === 1 ? [...this.#rows, ...found] : [...found, ...this.#rows];
          if (direction === 1) this.#upTo = upTo;
          else {
            this.#after = after;
            this.prepended += found.length;
          }
        }
        isDone = true;
      }
    } catch (thrown) {
      this.problem = thrown;
    }
    this.#isBusy = false;
    this.notifyListeners();
    return isDone;
  }
}
