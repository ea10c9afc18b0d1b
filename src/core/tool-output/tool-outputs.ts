/**
 * Whole outputs of tool calls whose results contain only a part of them. They are saved next to the log, each under the
 * SHA-256 of its bytes; the result's event has that hash, so that the log's hashes cover them.
 */
export interface ToolOutputs {
  /** Rejects with a `store_*` error; then nothing is saved. */
  write(sessionId: string, content: Buffer): Promise<KeptOutput>;
  /** Undefined if it does not exist. The bytes may have been changed: see `check`. */
  read(sessionId: string, hash: string): Promise<Buffer | undefined>;
  /** Whether the bytes are unchanged. */
  check(sessionId: string, hash: string): Promise<"intact" | "altered" | "missing">;
  /** Bytes that the session's outputs take up. */
  size(sessionId: string): Promise<number>;
  /** Copies the outputs that a fork's log refers to. */
  copy(from: string, to: string, hashes: readonly string[]): Promise<void>;
}

export interface KeptOutput {
  readonly hash: string;
  readonly bytes: number;
}

/** The maximum saved of one output, and of all outputs of a session. */
export const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
export const MAX_SESSION_OUTPUT_BYTES = 256 * 1024 * 1024;
