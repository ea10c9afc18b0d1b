import type { ClippedEvent } from "../../../../src/client/index.ts";
import { Changing, type LogRows, type Read } from "./log-reader.ts";

/** Events per request: a screenful and its surroundings. */
const BLOCK = 200;
/** Blocks kept in memory; the least recently viewed are dropped first. */
const KEPT = 50;
const AT_ONCE = 2;

/** Every event of a log. A row is a seq, so that any position can be shown without loading what precedes it. */
export class WholeLog extends Changing implements LogRows {
  readonly #read: Read;
  /** Block number → its events, as far as loaded. */
  readonly #blocks = new Map<number, readonly ClippedEvent[]>();
  readonly #loading = new Set<number>();
  /** The visible rows. Blocks scrolled past before they were requested are skipped. */
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
    this.notifyListeners();
  }

  /** Every seq is already a row. */
  seek(): void {}

  lookFurther(): void {}

  retry(): void {
    this.problem = undefined;
    this.#load();
    this.notifyListeners();
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
      // Moved to the end: the map's first blocks are the least recently loaded.
      this.#blocks.delete(block);
      this.#blocks.set(block, [...there, ...read]);
      this.#forget();
    } catch (thrown) {
      this.problem = thrown;
    }
    this.#loading.delete(block);
    this.notifyListeners();
    this.#load();
  }

  #forget(): void {
    for (const block of this.#blocks.keys()) {
      if (this.#blocks.size <= KEPT) return;
      if (!this.#wanted.includes(block)) this.#blocks.delete(block);
    }
  }
}
