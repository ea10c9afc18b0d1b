import { setTimeout as sleep } from "node:timers/promises";
import type { FollowedHost } from "../target/followed-session.ts";

export type AskingHost = Pick<FollowedHost, "approvals" | "awaitAnswer" | "scopes" | "mayWriteRules">;

/** Between two looks. A server is asked to wait itself, and is given this rest when it fails or does not wait. */
const REST_MS = 500;

/**
 * A signal that also aborts when somebody else has answered: nobody drives the session while it waits, so that nobody
 * else would notice.
 */
export function watchApproval(
  host: AskingHost,
  approvalId: string,
  signal: AbortSignal,
): Disposable & { readonly signal: AbortSignal } {
  const over = new AbortController();
  const leaving = new AbortController();
  void untilClosed(host, approvalId, leaving.signal).then(() => over.abort());
  return { signal: AbortSignal.any([signal, over.signal]), [Symbol.dispose]: () => leaving.abort() };
}

async function untilClosed(host: AskingHost, approvalId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const looking = host.awaitAnswer?.(approvalId, signal) ?? host.approvals.get(approvalId);
    const isClosed = await looking.then(
      ({ status }) => status !== "pending",
      () => false,
    );
    if (isClosed) return;
    await sleep(REST_MS, undefined, { signal }).catch(() => {});
  }
}
