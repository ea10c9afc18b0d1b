import { CapstanError } from "../../core/errors.ts";
import type { Lease, LeaseOwner, LeaseStore } from "../../core/ports/store.ts";

/** A host that does not renew for this long loses its sessions. */
const TTL_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

export interface HeldLease {
  readonly lease: Lease;
  /** Called once when another host has taken the session. */
  onLost(listener: (error: CapstanError) => void): void;
  release(): Promise<void>;
}

/** Takes a session's lease and keeps it alive. The lease of a process that is certainly gone is taken over at once. */
export async function holdLease(
  leases: LeaseStore,
  { sessionId, owner, isGone }: { sessionId: string; owner: LeaseOwner; isGone: (owner: LeaseOwner) => boolean },
): Promise<HeldLease> {
  const holder = await leases.holder(sessionId);
  if (holder !== undefined && isGone(holder)) await leases.evict(sessionId, holder.hostId);
  const lease = await leases.acquire(sessionId, owner, TTL_MS);
  let lost: ((error: CapstanError) => void) | undefined;
  const timer = setInterval(() => {
    leases.renew(lease, TTL_MS).catch((thrown: unknown) => {
      // The store may be busy or full for a moment; the next renewal may succeed.
      if (!(thrown instanceof CapstanError) || thrown.code !== "lease_lost") return;
      clearInterval(timer);
      lost?.(thrown);
    });
  }, RENEW_EVERY_MS).unref();
  return {
    lease,
    onLost: (listener) => {
      lost = listener;
    },
    release: async () => {
      clearInterval(timer);
      await leases.release(lease);
    },
  };
}
