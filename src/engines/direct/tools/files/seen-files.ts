import { createHash } from "node:crypto";

/**
 * What the model has seen of files, for as long as the engine's session is open. After a restart nothing counts as seen:
 * a file has to be read again before it is changed.
 */
export class SeenFiles {
  readonly #seen = new Map<string, string>();

  /** To be called with the content as it is in the file now. `thread` is the subagent's, whose view is its own. */
  note(thread: string | undefined, real: string, bytes: Buffer): void {
    this.#seen.set(key(thread, real), digest(bytes));
  }

  state(thread: string | undefined, real: string, bytes: Buffer): "unseen" | "changed" | "current" {
    const seen = this.#seen.get(key(thread, real));
    return seen === undefined ? "unseen" : seen === digest(bytes) ? "current" : "changed";
  }
}

function key(thread: string | undefined, real: string): string {
  return `${thread ?? ""}\0${real}`;
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("base64");
}
