/**
 * Whole outputs of tool calls whose results hold only a part of them. They lie beside the log, each under the SHA-256 of
 * its bytes; the event of the result has that hash, so that the log's own hashes cover them.
 */
export interface ToolOutputs {
  /** Rejects with a `store_*` error; then nothing is kept. */
  write(sessionId: string, content: Buffer): Promise<KeptOutput>;
  /** Undefined when it is not there. The bytes may have been changed: see `check`. */
  read(sessionId: string, hash: string): Promise<Buffer | undefined>;
  /** Whether the bytes are still those that were written. */
  check(sessionId: string, hash: string): Promise<"intact" | "altered" | "missing">;
  /** Bytes that the session's outputs take up. */
  size(sessionId: string): Promise<number>;
  /** Gives a fork the outputs that its log speaks of. */
  copy(from: string, to: string, hashes: readonly string[]): Promise<void>;
}

export interface KeptOutput {
  readonly hash: string;
  readonly bytes: number;
}

/** The most that is kept of one output, and of all those of a session. */
export const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
export const MAX_SESSION_OUTPUT_BYTES = 256 * 1024 * 1024;
