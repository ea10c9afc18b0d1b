import type { SQLInputValue } from "node:sqlite";
import type { Clock } from "../../../core/ports/clock.ts";
import { environmentDefinition } from "../../../core/environment/environment.ts";
import type { EnvironmentRecord, EnvironmentStore, Metadata } from "../../../core/ports/registry.ts";
import type { Database } from "../file/database.ts";
import { toSqlFlag, NOT_ARCHIVED, pageClause, pageParameters, idTakenError } from "./registry-page.ts";

interface EnvironmentRow {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: string;
  readonly definition: string;
  readonly directory: string | null;
  readonly config: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly archived_at: number | null;
}

const COLUMNS =
  "id, project, name, description, metadata, definition, directory, config, created_at, updated_at, archived_at";

export function environmentTable(database: Database, clock: Clock): EnvironmentStore {
  const insert = database.prepare(
    `INSERT INTO environments (${COLUMNS})
     VALUES (:id, :project, :name, :description, :metadata, :definition, :directory, :config, :createdAt, :updatedAt, :archivedAt)
     ON CONFLICT DO NOTHING`,
  );
  const selectOne = database.prepare(
    `SELECT ${COLUMNS} FROM environments WHERE project = ? AND id = ? AND deleted_at IS NULL`,
  );
  const selectPage = database.prepare(
    `SELECT ${COLUMNS} FROM environments WHERE deleted_at IS NULL AND ${NOT_ARCHIVED} AND ${pageClause("environments")}`,
  );
  const replace = database.prepare(
    `UPDATE environments SET name = :name, description = :description, metadata = :metadata, definition = :definition,
       directory = :directory, config = :config, created_at = :createdAt, updated_at = :updatedAt, archived_at = :archivedAt
     WHERE project = :project AND id = :id AND deleted_at IS NULL`,
  );
  const bury = database.prepare(
    `UPDATE environments SET deleted_at = ?, name = '', description = NULL, metadata = '{}', definition = '{}',
       directory = NULL, config = '{}'
     WHERE project = ? AND id = ? AND deleted_at IS NULL`,
  );

  return {
    async create(environment) {
      const { changes } = database.write(() => insert.run(toParameters(environment)));
      if (changes === 0) throw idTakenError("an environment", environment.id);
    },

    async get(project, id) {
      return database.read(() => {
        const row = selectOne.get<EnvironmentRow>(project, id);
        return row && toEnvironment(row);
      });
    },

    async list(project, query) {
      const parameters = { ...pageParameters(project, query), includeArchived: toSqlFlag(query.includeArchived) };
      return database.read(() => selectPage.all<EnvironmentRow>(parameters).map(toEnvironment));
    },

    async update(environment) {
      return database.write(() => replace.run(toParameters(environment)).changes > 0);
    },

    async delete(project, id) {
      return database.write(() => bury.run(clock.now(), project, id).changes > 0);
    },
  };
}

function toParameters(environment: EnvironmentRecord): Record<string, SQLInputValue> {
  const { id, project, name, description, directory, createdAt, updatedAt, archivedAt } = environment;
  return {
    id,
    project,
    name,
    description,
    metadata: JSON.stringify(environment.metadata),
    definition: JSON.stringify(environment.definition),
    directory,
    config: JSON.stringify(environment.config),
    createdAt,
    updatedAt,
    archivedAt,
  };
}

function toEnvironment(row: EnvironmentRow): EnvironmentRecord {
  return {
    id: row.id,
    project: row.project,
    name: row.name,
    description: row.description,
    metadata: JSON.parse(row.metadata) as Metadata,
    // Parsed with the schema: records of an earlier version get this version's defaults.
    definition: environmentDefinition.parse(JSON.parse(row.definition)),
    directory: row.directory,
    config: JSON.parse(row.config) as EnvironmentRecord["config"],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  };
}
