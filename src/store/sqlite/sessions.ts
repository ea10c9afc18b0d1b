import type { AgentDefinition } from "../../core/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SessionRecord, Store } from "../../core/store.ts";
import type { Database } from "./database.ts";
import { genesisHash } from "./hash-chain.ts";

interface SessionRow {
  readonly id: string;
  readonly created_at: number;
  readonly agent: string;
  readonly cwd: string;
  readonly title: string | null;
  readonly forked_from: string | null;
}

export function sessionTable(database: Database): Pick<Store, "createSession" | "session" | "sessions"> {
  const insert = database.prepare(
    `INSERT INTO sessions (id, created_at, agent, cwd, title, forked_from, head_seq, head_hash)
     VALUES (?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`,
  );
  const columns = "id, created_at, agent, cwd, title, forked_from";
  const selectOne = database.prepare(`SELECT ${columns} FROM sessions WHERE id = ?`);
  const selectNewest = database.prepare(`SELECT ${columns} FROM sessions ORDER BY created_at DESC, id DESC LIMIT ?`);

  return {
    async createSession(session) {
      const { id, createdAt, cwd, title } = session;
      database.write(() => {
        const agent = JSON.stringify(session.agent);
        const forkedFrom = session.forkedFrom && JSON.stringify(session.forkedFrom);
        const { changes } = insert.run(id, createdAt, agent, cwd, title, forkedFrom, genesisHash(id));
        if (changes === 0)
          throw new CapstanError("store_conflict", `There is a session ${id} already. Give the new one another id.`, {
            data: { sessionId: id },
          });
      });
    },

    async session(sessionId) {
      return database.read(() => {
        const row = selectOne.get(sessionId) as SessionRow | undefined;
        return row && toRecord(row);
      });
    },

    async sessions({ limit = -1 } = {}) {
      return database.read(() => (selectNewest.all(limit) as unknown as SessionRow[]).map(toRecord));
    },
  };
}

/** Everything else in the store belongs to a session that exists. */
export function sessionGuard(database: Database): (sessionId: string) => void {
  const exists = database.prepare("SELECT 1 FROM sessions WHERE id = ?");
  return (sessionId) => {
    if (exists.get(sessionId) === undefined) throw unknownSession(sessionId);
  };
}

export function unknownSession(sessionId: string): CapstanError {
  return new CapstanError("not_found", `There is no session ${sessionId}. Create it first, or check the id.`, {
    data: { sessionId },
  });
}

function toRecord(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    createdAt: row.created_at,
    agent: JSON.parse(row.agent) as AgentDefinition,
    cwd: row.cwd,
    title: row.title,
    forkedFrom: row.forked_from === null ? null : (JSON.parse(row.forked_from) as SessionRecord["forkedFrom"]),
  };
}
