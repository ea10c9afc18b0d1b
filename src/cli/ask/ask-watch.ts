import { setTimeout as sleep } from "node:timers/promises";
import type { FollowedHost } from "../target/followed-session.ts";

export type AskingHost = Pick<FollowedHost, "approvals" | "awaitAnswer" | "scopes" | "mayWriteRules">;

/** Between two checks. Servers hold the request themselves; this applies if they fail or return early. */
const PAUSE_MS = 500;

/** Returns a signal that also aborts when someone else answers. A waiting session has no process that would notice. */
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
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
}
