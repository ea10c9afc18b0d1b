import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { SessionRecord, Store } from "../../core/ports/store.ts";
import { importSession } from "../../runtime/files/archive.ts";
import { holdLease } from "../../runtime/log/lease.ts";
import { loadState } from "../../runtime/log/stored-state.ts";
import { workspaceLocation } from "../../runtime/paths/session-location.ts";
import { contentHash } from "../../store/sqlite/outputs/tool-outputs.ts";
import { eventHash, genesisHash } from "../../store/sqlite/audit/hash-chain.ts";
import { clock, ids } from "../clock.ts";
import { openFiles } from "../host/open-files.ts";
import { isGone, thisProcess } from "../host/processes.ts";
import { workspacesIn } from "../host/workspaces.ts";

/** Imports an archive into the store and returns the new session's id. */
export function importArchive(
  store: Store,
  lines: AsyncIterable<string>,
  { trust }: { readonly trust?: boolean | undefined } = {},
): Promise<string> {
  const owner = thisProcess(ids.next("host"));
  return importSession(store, lines, { ids, clock, owner, chain: { genesisHash, eventHash, contentHash }, trust });
}

/**
 * Erases a session, its workspace and its checkpoints. Rejects with `session_busy` while another process drives it, and
 * with `workspace_conflict` if its workspace has changes that were neither exported nor applied, unless they may be
 * discarded.
 */
export async function eraseSession(
  store: Store,
  { home, sessionId, discardChanges }: { home: string; sessionId: string; discardChanges: boolean },
): Promise<void> {
  const record = await store.session(sessionId);
  if (record !== undefined && !discardChanges) await removeTaken(store, { home, record });
  const held = await holdLease(store.leases, { sessionId, owner: thisProcess(ids.next("host")), isGone });
  try {
    // Before the session record: otherwise a workspace that could not be removed would be forgotten.
    if (record !== undefined) await workspacesIn(home, []).remove(workspaceLocation(record));
    await store.deleteSession(sessionId, held.lease.fence);
  } finally {
    await held.release();
  }
  await rm(join(home, "sessions", sessionId), { recursive: true, force: true });
}

/** Removes a workspace without unexported changes. Changes in the user's own directory stay. */
async function removeTaken(
  store: Store,
  { home, record }: { readonly home: string; readonly record: SessionRecord },
): Promise<void> {
  const { state } = await loadState(store, record.id);
  if (record.environment.workspace.kind === "in-place" || state.files.removed === true) return;
  await using opened = await openFiles(home, process.env);
  await opened.workspaces.remove(record.id);
}
