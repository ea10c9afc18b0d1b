import type { Clock } from "../../../core/ports/clock.ts";
import type { FileRecord, FileStore } from "../../../core/ports/registry.ts";
import type { Database } from "../file/database.ts";
import { pageClause, pageParameters, idTakenError } from "./registry-page.ts";

interface FileRow {
  readonly id: string;
  readonly project: string;
  readonly filename: string;
  readonly mime_type: string;
  readonly size_bytes: number;
  readonly created_at: number;
  readonly expires_at: number | null;
}

const COLUMNS = "id, project, filename, mime_type, size_bytes, created_at, expires_at";

const THERE = "deleted_at IS NULL AND (expires_at IS NULL OR expires_at > :now)";

export function fileTable(database: Database, clock: Clock): FileStore {
  const insert = database.prepare(`INSERT INTO files (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const selectOne = database.prepare(`SELECT ${COLUMNS} FROM files WHERE project = :project AND id = :id AND ${THERE}`);
  const selectPage = database.prepare(
    `SELECT ${COLUMNS} FROM files
     WHERE ${THERE} AND (:ids IS NULL OR id IN (SELECT value FROM json_each(:ids))) AND ${pageClause("files")}`,
  );
  const selectExpired = database.prepare(
    `SELECT ${COLUMNS} FROM files WHERE expires_at <= ? AND deleted_at IS NULL ORDER BY expires_at, id`,
  );
  const bury = database.prepare(
    `UPDATE files SET deleted_at = ?, filename = '', mime_type = '', size_bytes = 0
     WHERE project = ? AND id = ? AND deleted_at IS NULL`,
  );

  return {
    async create({ id, project, filename, mimeType, sizeBytes, createdAt, expiresAt }) {
      const { changes } = database.write(() =>
        insert.run(id, project, filename, mimeType, sizeBytes, createdAt, expiresAt),
      );
      if (changes === 0) throw idTakenError("a file", id);
    },

    async get(project, id, now) {
      return database.read(() => {
        const row = selectOne.get<FileRow>({ project, id, now });
        return row && toFile(row);
      });
    },

    async list(project, query) {
      const ids = query.ids === undefined ? null : JSON.stringify(query.ids);
      const parameters = { ...pageParameters(project, query), now: query.now, ids };
      return database.read(() => selectPage.all<FileRow>(parameters).map(toFile));
    },

    async delete(project, id) {
      return database.write(() => bury.run(clock.now(), project, id).changes > 0);
    },

    async listExpired(now) {
      return database.read(() => selectExpired.all<FileRow>(now).map(toFile));
    },
  };
}

function toFile(row: FileRow): FileRecord {
  return {
    id: row.id,
    project: row.project,
    filename: row.filename,
    mimeType: row.mime_type,
    sizeBytes: row.size_bytes,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
