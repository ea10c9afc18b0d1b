import { CapstanError } from "../../../core/errors.ts";

/** In milliseconds. A process answers a request of the host in some ten; one that takes this long hangs. */
const ANSWERED_WITHIN_MS = 30_000;

/** Rejects with `engine_failed` when a process does not answer in time. `what`: what it was asked, as in "start". */
export async function answered<T>(
  answer: Promise<T>,
  what: string,
  { withinMs = ANSWERED_WITHIN_MS }: { readonly withinMs?: number } = {},
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () =>
      reject(
        new CapstanError(
          "engine_failed",
          `The agent process did not ${what} within ${withinMs / 1_000} seconds. Interrupt the turn, or close the session and resume it, to start another process.`,
          { retryable: true },
        ),
      ),
    withinMs,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
