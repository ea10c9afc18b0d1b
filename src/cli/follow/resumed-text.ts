/**
 * How much of a text that is being said was heard. After a break it is told from its beginning again; what is on the
 * screen cannot be taken back, so only the rest is to be shown.
 */
export class HeardText {
  #heard = 0;
  #at = 0;

  /** It begins anew. */
  restart(): void {
    this.#at = 0;
  }

  /** What is new in the next piece. */
  take(piece: string): string {
    const known = this.#heard - this.#at;
    this.#at += piece.length;
    this.#heard = Math.max(this.#heard, this.#at);
    return known > 0 ? piece.slice(known) : piece;
  }
}
