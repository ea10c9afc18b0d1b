import { CapstanError } from "../../core/errors.ts";
import type { WorkLimits } from "../../core/ports/workspace.ts";

/** What one piece of heavy work may take. */
export interface HeavyLimits {
  /** In milliseconds. */
  readonly ms: number;
  /** In bytes: what is answered from memory, and what is written to a file first. */
  readonly bytes: number;
  readonly fileBytes: number;
}

const MEBIBYTE = 1_048_576;
export const HEAVY_LIMITS: HeavyLimits = { ms: 120_000, bytes: 32 * MEBIBYTE, fileBytes: 2_048 * MEBIBYTE };

/** Does work that ends when the client leaves, and when it takes too long. */
export async function withLimits<Result>(
  left: AbortSignal,
  { ms, bytes, fileBytes }: HeavyLimits,
  work: (limits: WorkLimits) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooLong(ms)), ms);
  const signal = AbortSignal.any([left, late.signal]);
  try {
    return await work({ signal, maxBytes: bytes, maxFileBytes: fileBytes });
  } finally {
    clearTimeout(timer);
  }
}

function tooLong(ms: number): CapstanError {
  return new CapstanError(
    "too_large",
    `This takes longer than ${ms / 1_000} s, which is more than one request may use. Narrow it, for example to one file or to fewer checkpoints.`,
    { data: { limit: "time" } },
  );
}
