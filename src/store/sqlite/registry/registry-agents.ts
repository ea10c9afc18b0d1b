import type { AgentDefinition } from "../../../core/agent/agent-definition.ts";
import { CapstanError } from "../../../core/errors.ts";
import type { AgentRecord, AgentStore, Metadata } from "../../../core/ports/registry.ts";
import type { Database } from "../file/database.ts";
import { toSqlFlag, NOT_ARCHIVED, pageClause, pageParameters, idTakenError } from "./registry-page.ts";

interface AgentRow {
  readonly id: string;
  readonly version: number;
  readonly project: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: string;
  readonly definition: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly archived_at: number | null;
}

const SELECT = `
  SELECT agents.id, version, project, name, description, metadata, definition, created_at, updated_at, archived_at
  FROM agents JOIN agent_versions ON agent_id = agents.id`;

/** `agents` has what all versions share; `agent_versions` has the rest of each. */
export function agentTable(database: Database): AgentStore {
  const insert = database.prepare(
    "INSERT INTO agents (id, project, created_at, newest_version, archived_at) VALUES (?, ?, ?, 0, ?) ON CONFLICT DO NOTHING",
  );
  const insertVersion = database.prepare(
    `INSERT INTO agent_versions (agent_id, version, name, description, metadata, definition, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const moveNewest = database.prepare(
    "UPDATE agents SET newest_version = :version WHERE id = :id AND project = :project AND newest_version = :version - 1",
  );
  const selectOne = database.prepare(
    `${SELECT} WHERE project = :project AND agents.id = :id AND version = coalesce(:version, newest_version)`,
  );
  const selectPage = database.prepare(
    `${SELECT} WHERE version = newest_version AND ${NOT_ARCHIVED} AND ${pageClause("agents")}`,
  );
  const selectVersions = database.prepare(
    `${SELECT} WHERE project = ? AND agents.id = ? AND version < ? ORDER BY version DESC LIMIT ?`,
  );
  const putAway = database.prepare(
    "UPDATE agents SET archived_at = coalesce(archived_at, ?) WHERE project = ? AND id = ?",
  );

  function one(project: string, id: string, version?: number): AgentRecord | undefined {
    const row = selectOne.get<AgentRow>({ project, id, version: version ?? null });
    return row && toAgent(row);
  }

  function add(agent: AgentRecord): void {
    const { id, project, version, name, description, metadata, definition, updatedAt } = agent;
    if (moveNewest.run({ id, project, version }).changes === 0) throw versionConflict(agent, one(project, id)?.version);
    insertVersion.run(id, version, name, description, JSON.stringify(metadata), JSON.stringify(definition), updatedAt);
  }

  return {
    async create(agent) {
      database.write(() => {
        const { changes } = insert.run(agent.id, agent.project, agent.createdAt, agent.archivedAt);
        if (changes === 0) throw idTakenError("an agent", agent.id);
        add(agent);
      });
    },

    async get(project, id, version) {
      return database.read(() => one(project, id, version));
    },

    async list(project, query) {
      const parameters = { ...pageParameters(project, query), includeArchived: toSqlFlag(query.includeArchived) };
      return database.read(() => selectPage.all<AgentRow>(parameters).map(toAgent));
    },

    async versions(project, id, { limit, before = Number.MAX_SAFE_INTEGER }) {
      return database.read(() => selectVersions.all<AgentRow>(project, id, before, limit).map(toAgent));
    },

    async update(agent) {
      database.write(() => add(agent));
    },

    async archive(project, id, at) {
      return database.write(() => {
        putAway.run(at, project, id);
        return one(project, id);
      });
    },
  };
}

function versionConflict({ id, version }: AgentRecord, newest: number | undefined): CapstanError {
  const actual = newest === undefined ? "the agent does not exist" : `its newest version is ${newest}`;
  return new CapstanError(
    "store_conflict",
    `Version ${version} of agent ${id} does not follow: ${actual}. Read the agent again, then repeat the change.`,
    { data: { id, version, newest: newest ?? null } },
  );
}

function toAgent(row: AgentRow): AgentRecord {
  return {
    id: row.id,
    version: row.version,
    project: row.project,
    name: row.name,
    description: row.description,
    metadata: JSON.parse(row.metadata) as Metadata,
    definition: JSON.parse(row.definition) as AgentDefinition,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  };
}
