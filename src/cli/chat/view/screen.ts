import { columns } from "../../terminal/text.ts";
import type { CursorLines } from "../editor/editor-view.ts";
import { frame, clearLive, EMPTY_FRAME, rowAfterResize } from "./frame.ts";
import type { Size } from "./layout.ts";

/** Least time between frames; shorter after a key press. */
const FRAME_MS = 33;
const KEY_MS = 8;

/**
 * The terminal of a chat. Finished lines are printed once and become part of the terminal's scrollback. The live region
 * below them is redrawn on changes.
 */
export class Screen {
  readonly #out: NodeJS.WriteStream;
  readonly #live: (size: Size) => CursorLines;
  #drawn: CursorLines = EMPTY_FRAME;
  #printed: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastAt = -Infinity;
  #held = true;

  /** `live` returns the live region. Draws nothing until `release`. */
  constructor(out: NodeJS.WriteStream, live: (size: Size) => CursorLines) {
    this.#out = out;
    this.#live = live;
  }

  get size(): Size {
    return { width: columns(this.#out), height: this.#out.rows || 24 };
  }

  /** Prints finished lines. */
  print(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#printed.push(...lines);
    this.redraw();
  }

  /** Redraws with the next frame. */
  redraw(): void {
    if (this.#timer === undefined) this.#drawAfter(FRAME_MS);
  }

  /** Redraws sooner, after a key press. */
  redrawForKey(): void {
    this.#stopTimer();
    this.#drawAfter(KEY_MS);
  }

  /** Removes the live region, so that a prompt can use the terminal. */
  hold(): void {
    if (this.#held) return;
    this.#stopTimer();
    this.#write(clearLive(this.#drawn, this.#printed));
    this.#printed = [];
    this.#drawn = EMPTY_FRAME;
    this.#held = true;
  }

  /** Resumes drawing at the cursor. */
  release(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#drawn = EMPTY_FRAME;
    this.redraw();
  }

  /** Scrolls everything out of view. */
  clear(): void {
    this.print(Array.from({ length: this.size.height }, () => ""));
  }

  /** Call when the terminal's size changed. It may have wrapped the drawn lines into more rows. */
  redrawAfterResize(): void {
    if (this.#held) return;
    const row = rowAfterResize(this.#drawn, this.size.width);
    this.#write(clearLive({ ...this.#drawn, row }, []));
    this.#drawn = EMPTY_FRAME;
    this.redraw();
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
