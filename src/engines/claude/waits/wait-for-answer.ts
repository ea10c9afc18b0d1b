import { CapstanError } from "../../../core/errors.ts";

/** Milliseconds. A process answers the host in about ten; one that takes this long hangs. */
const ANSWERED_WITHIN_MS = 30_000;

/** Rejects with `engine_failed` when a process does not answer in time. `what` is the request, as in "start". */
export async function waitForAnswer<T>(
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
          `The agent process did not ${what} within ${withinMs / 1_000} seconds. Interrupt the turn, or close and resume the session, to start a new process.`,
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
