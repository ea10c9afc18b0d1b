import { createHash } from "node:crypto";

/**
 * What the model has seen of files while the engine's session is open. After a restart nothing counts as seen: a file
 * must be read again before it is changed.
 */
export class SeenFiles {
  readonly #seen = new Map<string, { readonly digest: string; readonly isWhole: boolean }>();

  /** Call this with the file's current content. `thread` is a subagent's; each thread has its own view. */
  note(thread: string | undefined, real: string, { bytes, isWhole }: Seen): void {
    this.#seen.set(key(thread, real), { digest: digest(bytes), isWhole });
  }

  state(thread: string | undefined, real: string, bytes: Buffer): "unseen" | "changed" | "part" | "whole" {
    const seen = this.#seen.get(key(thread, real));
    if (seen === undefined) return "unseen";
    if (seen.digest !== digest(bytes)) return "changed";
    return seen.isWhole ? "whole" : "part";
  }
}

interface Seen {
  readonly bytes: Buffer;
  /** All of it was shown or written. */
  readonly isWhole: boolean;
}

function key(thread: string | undefined, real: string): string {
  return `${thread ?? ""}\0${real}`;
}

function digest(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("base64");
}
