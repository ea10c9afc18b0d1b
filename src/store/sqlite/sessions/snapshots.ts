import type { SessionState } from "../../../core/session/state.ts";
import type { Store } from "../../../core/ports/store.ts";
import type { Database } from "../file/database.ts";
import { sessionGuard } from "./sessions.ts";

interface SnapshotRow {
  readonly seq: number;
  readonly state: string;
}

export function snapshotTable(database: Database): Pick<Store, "saveSnapshot" | "snapshot"> {
  const requireSession = sessionGuard(database);
  // A slow writer never replaces a newer state with an older one.
  const save = database.prepare(
    `INSERT INTO snapshots (session_id, seq, state) VALUES (?, ?, ?)
     ON CONFLICT (session_id) DO UPDATE SET seq = excluded.seq, state = excluded.state WHERE excluded.seq >= seq`,
  );
  const select = database.prepare("SELECT seq, state FROM snapshots WHERE session_id = ?");

  return {
    async saveSnapshot(sessionId, { seq, state }) {
      database.write(() => {
        requireSession(sessionId);
        save.run(sessionId, seq, JSON.stringify(state));
      });
    },

    async snapshot(sessionId) {
      return database.read(() => {
        const row = select.get<SnapshotRow>(sessionId);
        return row && { seq: row.seq, state: JSON.parse(row.state) as SessionState };
      });
    },
  };
}
