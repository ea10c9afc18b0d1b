import type { ApprovalStore, Grant } from "../../core/session/approval.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { Database } from "./file/database.ts";

interface GrantRow {
  readonly id: string;
  readonly rule: string;
  readonly scope: Grant["scope"];
  readonly session_id: string | null;
  readonly project: string | null;
  readonly approval_id: string;
  readonly granted_by: string;
  readonly created_at: number;
  readonly last_used_at: number | null;
  readonly uses: number;
}

const SELECT =
  "SELECT id, rule, scope, session_id, project, approval_id, granted_by, created_at, last_used_at, uses FROM grants";

type GrantTable = Pick<ApprovalStore, "grants" | "revoke" | "recordUse"> & {
  /** Call this in the transaction that saves the answer. */
  readonly add: (grant: Grant) => void;
};

/** Remembered answers. A revoked one is removed here; the log still shows who gave it and when it was used. */
export function grantTable(database: Database, clock: Clock): GrantTable {
  const insert = database.prepare(
    `INSERT INTO grants (id, rule, scope, session_id, project, approval_id, granted_by, created_at, last_used_at, uses)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL, 0)`,
  );
  const selectAll = database.prepare(`${SELECT} ORDER BY created_at, id`);
  const selectFor = database.prepare(
    `${SELECT} WHERE scope = 'always' OR (scope = 'session' AND session_id = ?) OR (scope = 'project' AND project = ?)
     ORDER BY created_at, id`,
  );
  const remove = database.prepare("DELETE FROM grants WHERE id = ?");
  const count = database.prepare("UPDATE grants SET uses = uses + 1, last_used_at = ? WHERE id = ?");

  return {
    add({ id, rule, scope, sessionId, project, approvalId, by, createdAt }) {
      insert.run(id, rule, scope, sessionId, project, approvalId, by, createdAt);
    },

    async grants(where) {
      return database.read(() => {
        const rows =
          where === undefined ? selectAll.all<GrantRow>() : selectFor.all<GrantRow>(where.sessionId, where.project);
        return rows.map(toGrant);
      });
    },

    async revoke(grantId) {
      return database.write(() => remove.run(grantId).changes > 0);
    },

    async recordUse(grantId) {
      database.write(() => count.run(clock.now(), grantId));
    },
  };
}

function toGrant(row: GrantRow): Grant {
  return {
    id: row.id,
    rule: row.rule,
    scope: row.scope,
    sessionId: row.session_id,
    project: row.project,
    approvalId: row.approval_id,
    by: row.granted_by,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    uses: row.uses,
  };
}
