import type { SQLInputValue } from "node:sqlite";
import { bucketOf } from "../../../core/money/budget-day.ts";
import {
  addAmounts,
  judgeBudget,
  judgeToolCall,
  type ScopeLimits,
  type Standing,
} from "../../../core/money/budget-scopes.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import type { LedgerStore } from "../../../core/money/ledger.ts";
import type { Database } from "../file/database.ts";
import { requireFence } from "../sessions/fence.ts";
import { agentKey, ALL_TIME, type Spender } from "./ledger-projection.ts";
import { unknownSession } from "../sessions/sessions.ts";

interface SumRow {
  readonly usd: number;
  readonly input: number;
  readonly output: number;
  readonly cache: number;
  readonly turns: number;
  readonly tool_calls: number;
}

interface Who extends Spender {
  readonly fence: number | null;
}

const SUMS = `total(usd) AS usd, coalesce(sum(input_tokens), 0) AS input, coalesce(sum(output_tokens), 0) AS output,
  coalesce(sum(cache_tokens), 0) AS cache`;

/** A rehearsal is free, so it only counts against the session's own limits. */
const SPENT = `SELECT ${SUMS}, coalesce(sum(turns), 0) AS turns, coalesce(sum(tool_calls), 0) AS tool_calls
  FROM spend WHERE scope = ? AND key = ? AND bucket >= ? AND (scope = 'session' OR billing <> 'rehearsal')`;

/**
 * A dead host's reservation counts until the session's next host settles it, because the provider bills requests that
 * were sent. If its start is not in the log, it was not sent.
 */
const RESERVED = `SELECT ${SUMS} FROM reservations r
  WHERE (EXISTS (SELECT 1 FROM leases l WHERE l.session_id = r.session_id AND l.fence = r.fence AND l.expires_at > :now)
    OR EXISTS (SELECT 1 FROM events e WHERE e.session_id = r.session_id AND instr(e.event, '"id":"' || r.id || '"') > 0))`;

export function reservationTable(
  database: Database,
  clock: Clock,
): Pick<LedgerStore, "reserve" | "release" | "limitOnToolCall" | "standings"> {
  const selectWho = database.prepare(
    `SELECT id AS sessionId, project, coalesce(agent ->> '$.name', '') AS agent, fence
     FROM sessions LEFT JOIN leases ON session_id = id WHERE id = ? AND deleted_at IS NULL`,
  );
  const selectSpent = database.prepare(SPENT);
  const insert = database.prepare("INSERT INTO reservations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const remove = database.prepare("DELETE FROM reservations WHERE id = ?");
  const removeUnsent = database.prepare("DELETE FROM reservations WHERE session_id = ? AND fence < ?");
  const reserved = {
    session: database.prepare(`${RESERVED} AND r.session_id = :sessionId`),
    agent: database.prepare(`${RESERVED} AND r.project = :project AND r.agent = :agent`),
    project: database.prepare(`${RESERVED} AND r.project = :project`),
    day: database.prepare(`${RESERVED} AND r.project = :project AND r.bucket >= :from`),
  };

  function who(sessionId: string): Who {
    const row = selectWho.get<Who>(sessionId);
    if (row === undefined) throw unknownSession(sessionId);
    return row;
  }

  /** A scope beyond a session may include several projects: their spend and reservations are added up. */
  function withStanding(spender: Spender, limits: ScopeLimits): ScopeLimits & { readonly standing: Standing } {
    const { scope, projects = [spender.project] } = limits;
    const names = scope === "session" ? [spender.project] : projects;
    const each = names.map((project) => standingOf({ ...spender, project }, limits));
    return { ...limits, standing: each.reduce(addStandings) };
  }

  function standingOf(spender: Spender, limits: ScopeLimits): Standing {
    const { scope } = limits;
    const from = limits.day?.fromBucket ?? ALL_TIME;
    const spent = selectSpent.get<SumRow>(scope, keyOf(spender, limits), from) as SumRow;
    const parameters: Record<typeof scope, Record<string, SQLInputValue>> = {
      session: { sessionId: spender.sessionId },
      agent: { project: spender.project, agent: spender.agent },
      project: { project: spender.project },
      day: { project: spender.project, from },
    };
    const held = reserved[scope].get<SumRow>({ now: clock.now(), ...parameters[scope] }) as SumRow;
    return {
      spent: { ...amounts(spent), turns: spent.turns, toolCalls: spent.tool_calls },
      reserved: amounts(held),
    };
  }

  return {
    async reserve({ id, sessionId, fence, amounts: needed, scopes, agreed }) {
      return database.write(() => {
        const spender = who(sessionId);
        requireFence(sessionId, { fence, current: spender.fence });
        // Requests that an earlier host had sent were settled when the session was taken over.
        removeUnsent.run(sessionId, fence);
        const standings = scopes.map((limits) => withStanding(spender, limits));
        const verdict = judgeBudget(standings, { needed, agreed });
        const { project, agent } = spender;
        const { usd, input, output, cache } = needed;
        if (verdict.kind === "granted")
          insert.run(id, sessionId, fence, project, agent, bucketOf(clock.now()), usd, input, output, cache);
        return verdict;
      });
    },

    async release(reservationId) {
      database.write(() => remove.run(reservationId));
    },

    async standings(project, scopes) {
      return database.read(() =>
        scopes.map((limits) => withStanding({ sessionId: "", project, agent: limits.agent ?? "" }, limits)),
      );
    },

    async limitOnToolCall(sessionId, scopes) {
      return database.read(() => {
        const spender = who(sessionId);
        return judgeToolCall(scopes.map((limits) => withStanding(spender, limits)));
      });
    },
  };
}

function keyOf({ sessionId, project, agent }: Spender, { scope }: ScopeLimits): string {
  if (scope === "session") return sessionId;
  return scope === "agent" ? agentKey(project, agent) : project;
}

function addStandings(a: Standing, b: Standing): Standing {
  return {
    spent: {
      ...addAmounts(a.spent, b.spent),
      turns: a.spent.turns + b.spent.turns,
      toolCalls: a.spent.toolCalls + b.spent.toolCalls,
    },
    reserved: addAmounts(a.reserved, b.reserved),
  };
}

function amounts({ usd, input, output, cache }: SumRow): Standing["reserved"] {
  return { usd, input, output, cache };
}
