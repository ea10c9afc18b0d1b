import type { SQLInputValue } from "node:sqlite";
import type { AgentDefinition } from "../../../core/agent/agent-definition.ts";
import { environmentDefinition } from "../../../core/environment/environment.ts";
import { CapstanError } from "../../../core/errors.ts";
import type { Metadata } from "../../../core/ports/registry.ts";
import type { SessionChange, SessionRecord, SessionSummary, Store } from "../../../core/ports/store.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import type { Database } from "../file/database.ts";
import { genesisHash } from "../audit/hash-chain.ts";
import { notificationProjection } from "./notification-projection.ts";
import { prepareSessionQuery } from "./session-query.ts";

interface RecordRow {
  readonly id: string;
  readonly created_at: number;
  readonly project: string;
  readonly agent: string;
  readonly environment: string;
  readonly cwd: string;
  readonly source: string;
  readonly title: string | null;
  readonly metadata: string;
  readonly agent_id: string | null;
  readonly agent_version: number | null;
  readonly environment_id: string | null;
  readonly resources: string;
  readonly archived_at: number | null;
  readonly own_program: number;
  readonly forked_from: string | null;
}

interface CountRow {
  readonly status: SessionSummary["status"];
  readonly count: number;
}

interface SummaryRow extends RecordRow {
  readonly status: SessionSummary["status"];
  readonly last_activity_at: number;
  readonly last_spoken_at: number;
  readonly turns: number;
  readonly usd: number;
  readonly first_message: string;
  /** Null for none. */
  readonly included_usd: number | null;
  readonly rehearsal_usd: number | null;
  readonly unpriced: number | null;
}

const RECORD = `id, created_at, project, agent, environment, cwd, source, title, metadata, agent_id, agent_version,
  environment_id, resources, archived_at, own_program, forked_from`;

/** From the session's own totals in the ledger; computed only for the returned rows. */
const sumOf = (column: string, where: string): string =>
  `(SELECT sum(${column}) FROM spend WHERE scope = 'session' AND key = id AND ${where})`;

const SUMMARY = `${RECORD}, status, last_activity_at, last_spoken_at, turns, usd, first_message,
  ${sumOf("usd", "billing = 'included'")} AS included_usd, ${sumOf("usd", "billing = 'rehearsal'")} AS rehearsal_usd,
  ${sumOf("unpriced", "TRUE")} AS unpriced`;

export function sessionTable(
  database: Database,
  audit: AuditLog,
): Pick<Store, "createSession" | "session" | "sessions" | "countSessions"> {
  const insert = database.prepare(
    `INSERT INTO sessions (${RECORD}, last_activity_at, last_spoken_at, head_seq, head_hash)
     VALUES (:id, :createdAt, :project, :agent, :environment, :cwd, :source, :title, :metadata, :agentId, :agentVersion,
       :environmentId, :resources, :archivedAt, :ownProgram, :forkedFrom, :createdAt, :createdAt, 0, :genesis) ON CONFLICT DO NOTHING`,
  );
  const selectOne = database.prepare(`SELECT ${RECORD} FROM sessions WHERE id = ? AND deleted_at IS NULL`);
  const count = database.prepare(
    `SELECT status, count(*) AS count FROM sessions
     WHERE deleted_at IS NULL AND (:project IS NULL OR project = :project) GROUP BY status`,
  );
  const notify = notificationProjection(database);
  const selectSummaries = prepareSessionQuery<SummaryRow>(database, SUMMARY);

  return {
    async createSession(session) {
      const { id } = session;
      database.writeEarly(() => {
        const { changes } = insert.run(toParameters(session));
        if (changes === 0)
          throw new CapstanError("store_conflict", `Session ${id} already exists. Use another id.`, {
            data: { sessionId: id },
          });
        audit.recordCreated(id, { seq: 0, hash: genesisHash(id) });
        const { project, createdAt: at } = session;
        notify({ sessionId: id, project, at, sourceId: id, notifications: [{ type: "session.created", facts: {} }] });
      });
      await database.sync();
    },

    async session(sessionId) {
      return database.read(() => {
        const row = selectOne.get<RecordRow>(sessionId);
        return row && toRecord(row);
      });
    },

    async countSessions(project) {
      const none = { idle: 0, running: 0, rescheduling: 0, terminated: 0 };
      const rows = database.read(() => count.all<CountRow>({ project: project ?? null }));
      return rows.reduce((counts, row) => ({ ...counts, [row.status]: row.count }), none);
    },

    async sessions(query = {}) {
      return database.read(() => selectSummaries(query).map(toSummary));
    },
  };
}

/** Changes the variable fields of a record. Call this in the transaction that saves the events about it. */
export function recordChange(database: Database): (sessionId: string, change: SessionChange) => void {
  // For two of them, null is a value.
  const update = database.prepare(
    `UPDATE sessions SET title = iif(:changesTitle, :title, title), metadata = coalesce(:metadata, metadata),
       resources = coalesce(:resources, resources), archived_at = iif(:changesArchivedAt, :archivedAt, archived_at),
       own_program = coalesce(:ownProgram, own_program), agent = iif(:engine IS NULL, agent, json_set(agent, '$.engine', :engine))
     WHERE id = :id`,
  );
  return (id, { title, metadata, resources, archivedAt, ownProgram, engine }) => {
    update.run({
      id,
      changesTitle: title === undefined ? 0 : 1,
      title: title ?? null,
      metadata: metadata === undefined ? null : JSON.stringify(metadata),
      resources: resources === undefined ? null : JSON.stringify(resources),
      changesArchivedAt: archivedAt === undefined ? 0 : 1,
      archivedAt: archivedAt ?? null,
      ownProgram: ownProgram === undefined ? null : Number(ownProgram),
      engine: engine ?? null,
    });
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
  return new CapstanError("not_found", `Session ${sessionId} does not exist. Create it first, or check the id.`, {
    data: { sessionId },
  });
}

function toParameters(session: SessionRecord): Record<string, SQLInputValue> {
  const { id, createdAt, project, cwd, source, title, agentRef, environmentId, archivedAt, forkedFrom } = session;
  return {
    id,
    createdAt,
    project,
    agent: JSON.stringify(session.agent),
    environment: JSON.stringify(session.environment),
    cwd,
    source,
    title,
    metadata: JSON.stringify(session.metadata),
    agentId: agentRef?.id ?? null,
    agentVersion: agentRef?.version ?? null,
    environmentId,
    resources: JSON.stringify(session.resources),
    archivedAt,
    ownProgram: Number(session.ownProgram),
    forkedFrom: forkedFrom && JSON.stringify(forkedFrom),
    genesis: genesisHash(id),
  };
}

function toRecord(row: RecordRow): SessionRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    project: row.project,
    agent: JSON.parse(row.agent) as AgentDefinition,
    // Parsed with the schema: a session of an earlier version gets the defaults of new fields.
    environment: environmentDefinition.parse(JSON.parse(row.environment)),
    cwd: row.cwd,
    source: row.source,
    title: row.title,
    metadata: JSON.parse(row.metadata) as Metadata,
    agentRef:
      row.agent_id === null || row.agent_version === null ? null : { id: row.agent_id, version: row.agent_version },
    environmentId: row.environment_id,
    resources: JSON.parse(row.resources) as SessionRecord["resources"],
    archivedAt: row.archived_at,
    ownProgram: row.own_program === 1,
    forkedFrom: row.forked_from === null ? null : (JSON.parse(row.forked_from) as SessionRecord["forkedFrom"]),
  };
}

function toSummary(row: SummaryRow): SessionSummary {
  return {
    ...toRecord(row),
    status: row.status,
    lastActivityAt: row.last_activity_at,
    lastSpokenAt: row.last_spoken_at,
    turns: row.turns,
    usd: row.usd,
    firstMessage: row.first_message,
    ...(row.included_usd && { includedUsd: row.included_usd }),
    ...(row.rehearsal_usd && { rehearsalUsd: row.rehearsal_usd }),
    ...(row.unpriced && { unpricedRequests: row.unpriced }),
  };
}
