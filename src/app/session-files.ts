import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Store } from "../core/store.ts";
import { importSession } from "../runtime/archive.ts";
import { holdLease } from "../runtime/lease.ts";
import { eventHash, genesisHash } from "../store/sqlite/hash-chain.ts";
import { clock, ids } from "./clock.ts";
import { isGone, thisProcess } from "./processes.ts";

/** Reads an archive into the store, under a new id, which is returned. */
export function importArchive(store: Store, lines: AsyncIterable<string>): Promise<string> {
  const owner = thisProcess(ids.next("host"));
  return importSession(store, lines, { ids, clock, owner, chain: { genesisHash, eventHash } });
}

/** Erases a session and its files. Rejects with `session_busy` while another process drives it. */
export async function eraseSession(
  store: Store,
  { home, sessionId }: { home: string; sessionId: string },
): Promise<void> {
  const held = await holdLease(store.leases, { sessionId, owner: thisProcess(ids.next("host")), isGone });
  try {
    await store.deleteSession(sessionId, held.lease.fence);
  } finally {
    await held.release();
  }
  await rm(join(home, "sessions", sessionId), { recursive: true, force: true });
}
