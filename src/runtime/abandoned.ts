import type { LeaseOwner, Store } from "../core/store.ts";

/** What became of an abandoned session. */
export interface Recovered {
  readonly sessionId: string;
  readonly stopReason?: string | undefined;
  /** Why it could not be recovered. */
  readonly error?: string;
}

/** Sessions that should be at work although nobody drives them: their host died, or left before the answer came. */
export async function abandonedSessions(
  store: Store,
  isGone: (owner: LeaseOwner) => boolean,
  now: number,
): Promise<readonly string[]> {
  const abandoned: string[] = [];
  const answered = await store.approvals.list({ status: "answered" });
  const pending = await store.approvals.list({ status: "pending" });
  const expired = pending.filter(({ expiresAt }) => expiresAt !== null && expiresAt <= now);
  const running = await Promise.all(
    (["running", "rescheduling"] as const).map((status) => store.sessions({ status, includeArchived: false })),
  );
  const stuck = new Set([
    ...running.flat().map(({ id }) => id),
    ...[...answered, ...expired].map(({ sessionId }) => sessionId),
  ]);
  for (const id of stuck) {
    const holder = await store.leases.holder(id);
    if (holder === undefined || isGone(holder)) abandoned.push(id);
  }
  return abandoned;
}
