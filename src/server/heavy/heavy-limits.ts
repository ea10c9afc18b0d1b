import { CapstanError } from "../../core/errors.ts";
import type { WorkLimits } from "../../core/ports/workspace.ts";

/** Limits for one piece of expensive work. */
export interface HeavyLimits {
  /** In milliseconds. */
  readonly ms: number;
  /** In bytes: for answers from memory, and for those written to a file first. */
  readonly bytes: number;
  readonly fileBytes: number;
}

const MEBIBYTE = 1_048_576;
export const HEAVY_LIMITS: HeavyLimits = { ms: 120_000, bytes: 32 * MEBIBYTE, fileBytes: 2_048 * MEBIBYTE };

/** Runs work that stops when the client disconnects or the time is up. */
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
    `This took longer than ${ms / 1_000} s, the limit for one request. Narrow it, for example to one file or to fewer checkpoints.`,
    { data: { limit: "time" } },
  );
}
