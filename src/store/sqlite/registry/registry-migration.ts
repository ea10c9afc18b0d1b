/**
 * The step to version 7: what a server keeps besides its sessions, and a session's links to it. Lists are in the order
 * of the indexes, which contain everything that decides it.
 */
export const ADD_REGISTRY = `
  ALTER TABLE sessions ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
  -- No references: a session outlives the agent and the environment that it was made from.
  ALTER TABLE sessions ADD COLUMN agent_id TEXT;
  ALTER TABLE sessions ADD COLUMN agent_version INTEGER;
  ALTER TABLE sessions ADD COLUMN environment_id TEXT;
  ALTER TABLE sessions ADD COLUMN resources TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE sessions ADD COLUMN archived_at INTEGER;
  ALTER TABLE sessions ADD COLUMN own_program INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_by_creation ON sessions (project, created_at, id) WHERE deleted_at IS NULL;

  CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    newest_version INTEGER NOT NULL,
    archived_at INTEGER
  ) STRICT;
  CREATE INDEX agents_by_creation ON agents (project, created_at, id);

  CREATE TABLE agent_versions (
    agent_id TEXT NOT NULL REFERENCES agents (id),
    version INTEGER NOT NULL CHECK (version > 0),
    name TEXT NOT NULL,
    description TEXT,
    metadata TEXT NOT NULL,
    definition TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (agent_id, version)
  ) STRICT;

  CREATE TABLE environments (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT,
    metadata TEXT NOT NULL,
    definition TEXT NOT NULL,
    directory TEXT,
    config TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived_at INTEGER,
    -- A tombstone keeps its place, so that whoever deletes what a list shows can read on from there.
    deleted_at INTEGER
  ) STRICT;
  CREATE INDEX environments_by_creation ON environments (project, created_at, id);

  CREATE TABLE files (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    filename TEXT NOT NULL,
    mime_type TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    -- As for environments.
    deleted_at INTEGER
  ) STRICT;
  CREATE INDEX files_by_creation ON files (project, created_at, id);
  CREATE INDEX files_by_expiry ON files (expires_at) WHERE expires_at IS NOT NULL AND deleted_at IS NULL;

  CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    prefix TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
  ) STRICT;

  CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    events TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER
  ) STRICT;

  CREATE TABLE deliveries (
    id TEXT NOT NULL PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    project TEXT NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    -- Until then it is with the process that took it.
    leased_until INTEGER NOT NULL,
    last_status INTEGER,
    last_error TEXT
  ) STRICT;
  CREATE INDEX deliveries_by_creation ON deliveries (webhook_id, created_at, id);
  CREATE INDEX deliveries_waiting ON deliveries (next_at) WHERE status = 'waiting';
`;
