import type { LeaseOwner, Store } from "../../core/ports/store.ts";

/** The result of recovering an abandoned session. */
export interface Recovered {
  readonly sessionId: string;
  readonly stopReason?: string | undefined;
  /** Why it could not be recovered. */
  readonly error?: string;
}

/** Sessions with work to do that nobody drives: their host died, or left before an answer arrived. */
export async function abandonedSessions(
  store: Pick<Store, "leases">,
  isGone: (owner: LeaseOwner) => boolean,
  now: number,
): Promise<readonly string[]> {
  const wanted = await store.leases.listWanted(now);
  // A host drives many sessions, and checking whether it is alive takes a system call.
  const gone = new Map<string, boolean>();
  const hasGone = (owner: LeaseOwner): boolean => {
    const known = gone.get(owner.hostId) ?? isGone(owner);
    gone.set(owner.hostId, known);
    return known;
  };
  return wanted.filter(({ holder }) => holder === undefined || hasGone(holder)).map(({ sessionId }) => sessionId);
}
