import { mkdir } from "node:fs/promises";
import { checkpointsIn } from "../core/checkpoint-list.ts";
import type { StoredEvent } from "../core/events.ts";
import type { SessionRecord } from "../core/store.ts";
import { placeOf } from "../runtime/session-place.ts";
import { ids } from "./clock.ts";
import { workspacesIn } from "./workspaces.ts";

/**
 * Makes a directory with the files of a session as they were at its first checkpoint, which is before its first change.
 * False when there is none, and nothing is made.
 */
export async function writeFixture(
  directory: string,
  {
    home,
    record,
    events,
  }: { readonly home: string; readonly record: SessionRecord; readonly events: readonly StoredEvent[] },
): Promise<boolean> {
  const [first] = checkpointsIn(events);
  if (first === undefined) return false;
  await mkdir(directory, { recursive: true });
  const workspaces = workspacesIn(home, []);
  // For as long as it takes, the directory is the workspace of a session that is none.
  const place = { sessionId: ids.next("sesn"), kind: "in-place", cwd: directory, source: directory } as const;
  try {
    const workspace = workspaces.open(place, record.environment.checkpoints);
    await workspace.adopt(first.commit, placeOf(record));
    const empty = await workspace.checkpoint(undefined);
    if (empty !== undefined) await workspace.restore(first.commit, empty.commit);
  } finally {
    await workspaces.remove(place);
  }
  return true;
}
