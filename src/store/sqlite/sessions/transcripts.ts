import type { TranscriptEntry, TranscriptStore } from "../../../core/ports/store.ts";
import type { Database } from "../file/database.ts";
import { sessionGuard } from "./sessions.ts";

export function transcriptTable(database: Database): TranscriptStore {
  const requireSession = sessionGuard(database);
  const insert = database.prepare(
    "INSERT INTO transcript_entries (session_id, path, uuid, entry) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const remove = database.prepare("DELETE FROM transcript_entries WHERE session_id = ? AND path = ?");
  const selectEntries = database.prepare(
    "SELECT entry FROM transcript_entries WHERE session_id = ? AND path = ? ORDER BY position",
  );
  const selectPaths = database.prepare(
    "SELECT DISTINCT path FROM transcript_entries WHERE session_id = ? AND path <> '' ORDER BY path",
  );

  function insertAll(sessionId: string, path: string, entries: readonly TranscriptEntry[]): void {
    requireSession(sessionId);
    for (const entry of entries) insert.run(sessionId, path, entry.uuid ?? null, JSON.stringify(entry));
  }

  return {
    async append(sessionId, path, entries) {
      database.write(() => insertAll(sessionId, path, entries));
    },

    async load(sessionId, path) {
      return database.read(() => {
        const rows = selectEntries.all<{ readonly entry: string }>(sessionId, path);
        return rows.map(({ entry }) => JSON.parse(entry) as TranscriptEntry);
      });
    },

    async replace(sessionId, path, entries) {
      database.write(() => {
        remove.run(sessionId, path);
        insertAll(sessionId, path, entries);
      });
    },

    /** Only the subagents' paths: the primary thread's is always `""`. */
    async paths(sessionId) {
      return database.read(() => {
        const rows = selectPaths.all<{ readonly path: string }>(sessionId);
        return rows.map(({ path }) => path);
      });
    },
  };
}
