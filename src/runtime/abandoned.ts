import type { LeaseOwner, Store } from "../core/store.ts";

/** Sessions that are in a turn although nobody drives them: their host died. */
export async function abandonedSessions(
  store: Store,
  isGone: (owner: LeaseOwner) => boolean,
): Promise<readonly string[]> {
  const abandoned: string[] = [];
  for (const { id } of await store.sessions({ status: "running" })) {
    const holder = await store.leases.holder(id);
    if (holder === undefined || isGone(holder)) abandoned.push(id);
  }
  return abandoned;
}
