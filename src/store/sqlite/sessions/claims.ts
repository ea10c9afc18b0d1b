import { isInside } from "../../../core/paths/inside.ts";
import type { ClaimStore } from "../../../core/ports/store.ts";
import type { Database } from "../file/database.ts";
import { sessionGuard } from "./sessions.ts";

interface ClaimRow {
  readonly session_id: string;
  readonly path: string;
}

/** There are as many rows as turns under way. */
export function claimTable(database: Database): ClaimStore {
  const requireSession = sessionGuard(database);
  const selectOthers = database.prepare("SELECT session_id, path FROM claims WHERE session_id <> ?");
  const put = database.prepare("REPLACE INTO claims (session_id, path) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM claims WHERE session_id = ?");

  return {
    async claim(sessionId, path) {
      return database.write(() => {
        requireSession(sessionId);
        const others = selectOthers.all(sessionId) as unknown as ClaimRow[];
        const holder = others.find((other) => isInside(path, other.path) || isInside(other.path, path));
        if (holder === undefined) put.run(sessionId, path);
        return holder?.session_id;
      });
    },

    async release(sessionId) {
      database.write(() => remove.run(sessionId));
    },
  };
}
