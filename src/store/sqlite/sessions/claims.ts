import { isInside } from "../../../core/paths/is-inside.ts";
import type { ClaimStore } from "../../../core/ports/store.ts";
import type { Database } from "../file/database.ts";
import { sessionGuard } from "./sessions.ts";

interface ClaimRow {
  readonly session_id: string;
  readonly path: string;
}

/** Claims a directory unless another session has it, whose id is then returned. Call this in a transaction. */
export function claimWriter(database: Database): (sessionId: string, path: string) => string | undefined {
  const selectOthers = database.prepare("SELECT session_id, path FROM claims WHERE session_id <> ?");
  const put = database.prepare("REPLACE INTO claims (session_id, path) VALUES (?, ?)");
  return (sessionId, path) => {
    const others = selectOthers.all<ClaimRow>(sessionId);
    const holder = others.find((other) => isInside(path, other.path) || isInside(other.path, path));
    if (holder === undefined) put.run(sessionId, path);
    return holder?.session_id;
  };
}

/** There are as many rows as running turns. Nothing waits for the disk: claims end with their hosts. */
export function claimTable(database: Database): ClaimStore {
  const requireSession = sessionGuard(database);
  const take = claimWriter(database);
  const selectOwn = database.prepare("SELECT 1 FROM claims WHERE session_id = ? AND path = ?");
  const remove = database.prepare("DELETE FROM claims WHERE session_id = ?");

  return {
    async claim(sessionId, path) {
      // A claim made by an append needs no separate write.
      if (database.read(() => selectOwn.get(sessionId, path)) !== undefined) return undefined;
      return database.writeEarly(() => {
        requireSession(sessionId);
        return take(sessionId, path);
      });
    },

    async release(sessionId) {
      database.writeEarly(() => remove.run(sessionId));
    },
  };
}
