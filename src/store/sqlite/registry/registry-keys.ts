import type { KeyRecord, KeyStore } from "../../../core/ports/registry.ts";
import type { Database } from "../file/database.ts";
import { idTakenError } from "./registry-page.ts";

interface KeyRow {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly role: KeyRecord["role"];
  readonly hash: string;
  readonly prefix: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

const COLUMNS = "id, project, name, role, hash, prefix, created_at, last_used_at, revoked_at";

/** There are few keys, and none is ever removed: a revoked one still shows who had access. */
export function keyTable(database: Database): KeyStore {
  const insert = database.prepare(
    `INSERT INTO keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const selectByHash = database.prepare(`SELECT ${COLUMNS} FROM keys WHERE hash = ?`);
  const selectMany = database.prepare(
    `SELECT ${COLUMNS} FROM keys WHERE :project IS NULL OR project = :project ORDER BY created_at, id`,
  );
  const end = database.prepare("UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL");
  // Processes report uses in any order.
  const use = database.prepare("UPDATE keys SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?");

  return {
    async create({ id, project, name, role, hash, prefix, createdAt, lastUsedAt, revokedAt }) {
      const { changes } = database.write(() =>
        insert.run(id, project, name, role, hash, prefix, createdAt, lastUsedAt, revokedAt),
      );
      if (changes === 0) throw idTakenError("a key", id);
    },

    async byHash(hash) {
      return database.read(() => {
        const row = selectByHash.get<KeyRow>(hash);
        return row && toKey(row);
      });
    },

    async list(project) {
      const parameters = { project: project ?? null };
      return database.read(() => selectMany.all<KeyRow>(parameters).map(toKey));
    },

    async revoke(id, at) {
      return database.write(() => end.run(at, id).changes > 0);
    },

    async recordUse(id, at) {
      database.write(() => use.run(at, id));
    },
  };
}

function toKey(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    project: row.project,
    name: row.name,
    role: row.role,
    hash: row.hash,
    prefix: row.prefix,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
