import type { SQLInputValue } from "node:sqlite";
import { CapstanError } from "../../../core/errors.ts";
import type { SessionQuery } from "../../../core/ports/store.ts";
import { type Database, MATCHES, type Statement } from "../file/database.ts";

type Filter = Exclude<keyof SessionQuery, "limit" | "order" | "includeArchived">;

/** The session that a page starts after may have been deleted since: its tombstone keeps its position. */
const follows = (than: "<" | ">", project: string): string =>
  `(created_at, id) ${than} (SELECT created_at, id FROM sessions WHERE id = :after AND ${project})`;

/** An expired approval is not waited for, even if nobody has recorded that yet. */
const WAITING = `EXISTS (SELECT 1 FROM approvals WHERE session_id = sessions.id AND approvals.status = 'pending'
  AND (expires_at IS NULL OR expires_at > :waitingAt))`;

/** Filters in SQL. */
function conditionsOf({ order, project }: SessionQuery): Readonly<Record<Filter, string>> {
  return {
    id: "id = :id",
    project: "project = :project",
    status: "status = :status",
    statuses: "status IN (SELECT value FROM json_each(:statuses))",
    agent: "agent ->> '$.name' = :agent",
    agentId: "agent_id = :agentId",
    agentVersion: "agent_version = :agentVersion",
    search: `${MATCHES}(:search, title, first_message, source, agent ->> '$.name')`,
    inactiveSince: "last_activity_at < :inactiveSince",
    createdFrom: "created_at >= :createdFrom",
    createdUntil: "created_at <= :createdUntil",
    waitingAt: WAITING,
    after: follows(order === "asc" ? ">" : "<", project === undefined ? "TRUE" : "project = :project"),
  };
}

/** Gives the rows that a query finds; `columns` is what is read of each. */
export function prepareSessionQuery<Row>(database: Database, columns: string): (query: SessionQuery) => Row[] {
  // A filter that is not given is not in the statement, where it would keep an index from being used.
  const prepared = new Map<string, Statement>();
  return (query) => {
    if (query.after !== undefined && query.order === undefined) throw orderMissing(query.after);
    const conditions = conditionsOf(query);
    const given: Record<string, SQLInputValue> = {};
    const where = ["deleted_at IS NULL"];
    for (const filter of Object.keys(conditions) as Filter[]) {
      const value = query[filter];
      if (value === undefined) continue;
      given[filter] = typeof value === "object" ? JSON.stringify(value) : value;
      where.push(conditions[filter]);
    }
    if (query.includeArchived === false) where.push("archived_at IS NULL");
    const sql = `SELECT ${columns} FROM sessions ${indexFor(query)} WHERE ${where.join(" AND ")} ${orderOf(query)} LIMIT :limit`;
    const statement = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, statement);
    return statement.all<Row>({ ...given, limit: query.limit ?? -1 });
  };
}

/** SQLite would rather find a project's sessions and sort them all than read a few in order. */
function indexFor({ order, id }: SessionQuery): string {
  return order === undefined && id === undefined ? "INDEXED BY sessions_by_activity" : "";
}

function orderOf({ order }: SessionQuery): string {
  if (order === undefined) return "ORDER BY last_activity_at DESC, id";
  return order === "asc" ? "ORDER BY created_at, id" : "ORDER BY created_at DESC, id DESC";
}

function orderMissing(after: string): CapstanError {
  return new CapstanError(
    "invalid_input",
    `A list of sessions cannot start after ${after} without a stable order: others may become active meanwhile. Set "order" as well.`,
    { data: { after } },
  );
}
