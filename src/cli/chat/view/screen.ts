import { columns } from "../../terminal/text.ts";
import type { Placed } from "../editor/editor-view.ts";
import { frame, leaving, NOTHING, rowAfterResize } from "./frame.ts";
import type { Size } from "./layout.ts";

/** At most so often is anything drawn; a key that was pressed is seen sooner. */
const FRAME_MS = 33;
const KEY_MS = 8;

/**
 * The terminal of a chat. What is finished is printed once and belongs to the terminal's own history; below it stands what
 * is live, drawn again when something changed.
 */
export class Screen {
  readonly #out: NodeJS.WriteStream;
  readonly #live: (size: Size) => Placed;
  #drawn: Placed = NOTHING;
  #printed: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastAt = -Infinity;
  #held = true;

  /** `live` tells what is to stand below the finished lines. Draws nothing until `release`. */
  constructor(out: NodeJS.WriteStream, live: (size: Size) => Placed) {
    this.#out = out;
    this.#live = live;
  }

  get size(): Size {
    return { width: columns(this.#out), height: this.#out.rows || 24 };
  }

  /** Lines that will not change any more. */
  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#printed.push(...lines);
    this.changed();
  }

  /** Something that is live has changed: it is drawn with the next frame. */
  changed(): void {
    if (this.#timer === undefined) this.#drawAfter(FRAME_MS);
  }

  /** A key was pressed. */
  pressed(): void {
    this.#stopTimer();
    this.#drawAfter(KEY_MS);
  }

  /** Takes what is live away, and leaves the terminal to somebody else. */
  hold(): void {
    if (this.#held) return;
    this.#stopTimer();
    this.#write(leaving(this.#drawn, this.#printed));
    this.#printed = [];
    this.#drawn = NOTHING;
    this.#held = true;
  }

  /** Draws again, where the cursor is now. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#drawn = NOTHING;
    this.changed();
  }

  /** Scrolls all that is there out of sight. */
  clear(): void {
    this.print(Array.from({ length: this.size.height }, () => ""));
  }

  /** To be called when the terminal has got another size. It may have broken what was drawn into more rows. */
  resized(): void {
    if (this.#held) return;
    const row = rowAfterResize(this.#drawn, this.size.width);
    this.#write(leaving({ ...this.#drawn, row }, []));
    this.#drawn = NOTHING;
    this.changed();
  }

  #drawAfter(ms: number): void {
    if (this.#held) return;
    const wait = Math.max(0, this.#lastAt + ms - performance.now());
    this.#timer = setTimeout(() => this.#draw(), wait);
  }

  #draw(): void {
    this.#stopTimer();
    this.#lastAt = performance.now();
    const next = this.#live(this.size);
    this.#write(frame(this.#drawn, next, this.#printed));
    this.#printed = [];
    this.#drawn = next;
  }

  #write(text: string): void {
    if (this.#out.errored === null) this.#out.write(text);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
