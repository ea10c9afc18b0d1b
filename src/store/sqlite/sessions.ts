import type { AgentDefinition } from "../../core/agent-definition.ts";
import { environmentDefinition } from "../../core/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SessionRecord, SessionSummary, Store } from "../../core/store.ts";
import type { AuditLog } from "./audit-log.ts";
import { type Database, MATCHES } from "./database.ts";
import { genesisHash } from "./hash-chain.ts";

interface RecordRow {
  readonly id: string;
  readonly created_at: number;
  readonly project: string;
  readonly agent: string;
  readonly environment: string;
  readonly cwd: string;
  readonly source: string;
  readonly title: string | null;
  readonly forked_from: string | null;
}

interface SummaryRow extends RecordRow {
  readonly status: SessionSummary["status"];
  readonly last_activity_at: number;
  readonly turns: number;
  readonly usd: number;
  readonly first_message: string;
  /** Null for none. */
  readonly included_usd: number | null;
  readonly rehearsal_usd: number | null;
  readonly unpriced: number | null;
}

const RECORD = "id, created_at, project, agent, environment, cwd, source, title, forked_from";

/** Out of the session's own sums in the ledger; worked out only for the rows that are given. */
const sumOf = (column: string, where: string): string =>
  `(SELECT sum(${column}) FROM spend WHERE scope = 'session' AND key = id AND ${where})`;

/** One index holds the order and the first two filters, so that no row is read only to be passed over for them. */
const SELECT_SUMMARIES = `
  SELECT ${RECORD}, status, last_activity_at, turns, usd, first_message,
    ${sumOf("usd", "billing = 'included'")} AS included_usd, ${sumOf("usd", "billing = 'rehearsal'")} AS rehearsal_usd,
    ${sumOf("unpriced", "TRUE")} AS unpriced
  FROM sessions
  WHERE deleted_at IS NULL AND last_activity_at < :inactiveSince
    AND (:project IS NULL OR project = :project)
    AND (:status IS NULL OR status = :status)
    AND (:agent IS NULL OR agent ->> '$.name' = :agent)
    AND (:search IS NULL OR ${MATCHES}(:search, title, first_message, source, agent ->> '$.name'))
  ORDER BY last_activity_at DESC, id LIMIT :limit`;

export function sessionTable(
  database: Database,
  audit: AuditLog,
): Pick<Store, "createSession" | "session" | "sessions"> {
  const insert = database.prepare(
    `INSERT INTO sessions (${RECORD}, last_activity_at, head_seq, head_hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
  );
  const selectOne = database.prepare(`SELECT ${RECORD} FROM sessions WHERE id = ? AND deleted_at IS NULL`);
  const selectSummaries = database.prepare(SELECT_SUMMARIES);

  return {
    async createSession(session) {
      const { id, createdAt, project, cwd, source, title } = session;
      database.write(() => {
        const agent = JSON.stringify(session.agent);
        const environment = JSON.stringify(session.environment);
        const forkedFrom = session.forkedFrom && JSON.stringify(session.forkedFrom);
        const record = [id, createdAt, project, agent, environment, cwd, source, title, forkedFrom];
        const { changes } = insert.run(...record, createdAt, genesisHash(id));
        if (changes === 0)
          throw new CapstanError("store_conflict", `There is a session ${id} already. Give the new one another id.`, {
            data: { sessionId: id },
          });
        audit.created(id, { seq: 0, hash: genesisHash(id) });
      });
    },

    async session(sessionId) {
      return database.read(() => {
        const row = selectOne.get(sessionId) as RecordRow | undefined;
        return row && toRecord(row);
      });
    },

    async sessions({ limit = -1, project, status, agent, search, inactiveSince = Number.MAX_SAFE_INTEGER } = {}) {
      const filters = {
        limit,
        inactiveSince,
        project: project ?? null,
        status: status ?? null,
        agent: agent ?? null,
        search: search ?? null,
      };
      return database.read(() => (selectSummaries.all(filters) as unknown as SummaryRow[]).map(toSummary));
    },
  };
}

/** Everything else in the store belongs to a session that exists and was not deleted. */
export function sessionGuard(database: Database): (sessionId: string) => void {
  const exists = database.prepare("SELECT 1 FROM sessions WHERE id = ? AND deleted_at IS NULL");
  return (sessionId) => {
    if (exists.get(sessionId) === undefined) throw unknownSession(sessionId);
  };
}

export function unknownSession(sessionId: string): CapstanError {
  return new CapstanError("not_found", `There is no session ${sessionId}. Create it first, or check the id.`, {
    data: { sessionId },
  });
}

function toRecord(row: RecordRow): SessionRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    project: row.project,
    agent: JSON.parse(row.agent) as AgentDefinition,
    // Read through the schema: what a session of an earlier version was started without has its default.
    environment: environmentDefinition.parse(JSON.parse(row.environment)),
    cwd: row.cwd,
    source: row.source,
    title: row.title,
    forkedFrom: row.forked_from === null ? null : (JSON.parse(row.forked_from) as SessionRecord["forkedFrom"]),
  };
}

function toSummary(row: SummaryRow): SessionSummary {
  return {
    ...toRecord(row),
    status: row.status,
    lastActivityAt: row.last_activity_at,
    turns: row.turns,
    usd: row.usd,
    firstMessage: row.first_message,
    ...(row.included_usd && { includedUsd: row.included_usd }),
    ...(row.rehearsal_usd && { rehearsalUsd: row.rehearsal_usd }),
    ...(row.unpriced && { unpricedRequests: row.unpriced }),
  };
}
