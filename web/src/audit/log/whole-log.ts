import type { ClippedEvent } from "../../../../src/client/index.ts";
import { Changing, type LogRows, type Read } from "./log-reader.ts";

/** Events that are read at once: a screen of them and what is around it. */
const BLOCK = 200;
/** How many blocks are kept; those that were looked at longest ago go first. */
const KEPT = 50;
const AT_ONCE = 2;

/** Every event of a log. A row is a place in the log, so that any place can be shown without what is before it. */
export class WholeLog extends Changing implements LogRows {
  readonly #read: Read;
  /** Number of a block → its events, as far as they were read. */
  readonly #blocks = new Map<number, readonly ClippedEvent[]>();
  readonly #loading = new Set<number>();
  /** What is looked at now. Who scrolls past a block before it was asked for does not want it any more. */
  #wanted: readonly number[] = [];
  #head: number;
  readonly prepended = 0;
  readonly looked = undefined;
  problem: unknown;

  constructor(read: Read, head: number) {
    super();
    this.#read = read;
    this.#head = head;
  }

  get count(): number {
    return this.#head;
  }

  event(index: number): ClippedEvent | undefined {
    return this.#blocks.get(Math.floor(index / BLOCK))?.[index % BLOCK];
  }

  indexOf(seq: number): number {
    return Math.min(seq, this.#head) - 1;
  }

  show(first: number, last: number): void {
    const from = Math.floor(first / BLOCK);
    const to = Math.floor(last / BLOCK);
    this.#wanted = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    this.#load();
  }

  async next(seq: number, direction: 1 | -1): Promise<number | undefined> {
    const next = seq + direction;
    return next >= 1 && next <= this.#head ? next : undefined;
  }

  async edge(direction: 1 | -1): Promise<number | undefined> {
    if (this.#head === 0) return undefined;
    return direction === 1 ? this.#head : 1;
  }

  grow(head: number): void {
    if (head <= this.#head) return;
    this.#head = head;
    this.#load();
    this.changed();
  }

  /** Every place is a row already. */
  seek(): void {}

  lookFurther(): void {}

  retry(): void {
    this.problem = undefined;
    this.#load();
    this.changed();
  }

  #load(): void {
    if (this.problem !== undefined) return;
    for (const block of this.#wanted) {
      if (this.#loading.size >= AT_ONCE) return;
      if (this.#loading.has(block) || this.#isWhole(block)) continue;
      void this.#loadBlock(block);
    }
  }

  #isWhole(block: number): boolean {
    return (this.#blocks.get(block)?.length ?? 0) >= Math.min(BLOCK, this.#head - block * BLOCK);
  }

  async #loadBlock(block: number): Promise<void> {
    this.#loading.add(block);
    const there = this.#blocks.get(block) ?? [];
    const after = block * BLOCK + there.length;
    const upTo = Math.min(this.#head, (block + 1) * BLOCK);
    try {
      const read = await this.#read(after, upTo);
      // Put at the end: the first of the map are those that were loaded longest ago.
      this.#blocks.delete(block);
      this.#blocks.set(block, [...there, ...read]);
      this.#forget();
    } catch (thrown) {
      this.problem = thrown;
    }
    this.#loading.delete(block);
    this.changed();
    this.#load();
  }

  #forget(): void {
    for (const block of this.#blocks.keys()) {
      if (this.#blocks.size <= KEPT) return;
      if (!this.#wanted.includes(block)) this.#blocks.delete(block);
    }
  }
}
