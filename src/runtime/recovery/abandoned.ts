import type { LeaseOwner, Store } from "../../core/ports/store.ts";

/** What became of an abandoned session. */
export interface Recovered {
  readonly sessionId: string;
  readonly stopReason?: string | undefined;
  /** Why it could not be recovered. */
  readonly error?: string;
}

/** Sessions that should be at work although nobody drives them: their host died, or left before the answer came. */
export async function abandonedSessions(
  store: Pick<Store, "leases">,
  isGone: (owner: LeaseOwner) => boolean,
  now: number,
): Promise<readonly string[]> {
  const wanted = await store.leases.wanted(now);
  // A host drives many, and whether it is there costs a look at the system.
  const gone = new Map<string, boolean>();
  const hasGone = (owner: LeaseOwner): boolean => {
    const known = gone.get(owner.hostId) ?? isGone(owner);
    gone.set(owner.hostId, known);
    return known;
  };
  return wanted.filter(({ holder }) => holder === undefined || hasGone(holder)).map(({ sessionId }) => sessionId);
}
