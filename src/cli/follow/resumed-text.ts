/**
 * Tracks how much of a streamed text has been received. After a reconnect, the stream repeats the text from the start;
 * only the new part must be shown.
 */
export class ResumedText {
  #received = 0;
  #at = 0;

  /** The stream starts over. */
  restart(): void {
    this.#at = 0;
  }

  /** Returns the new part of the next piece. */
  take(piece: string): string {
    const known = this.#received - this.#at;
    this.#at += piece.length;
    this.#received = Math.max(this.#received, this.#at);
    return known > 0 ? piece.slice(known) : piece;
  }
}
