import type { LedgerRecord } from "../../../core/session/audit.ts";
import { bucketOf } from "../../../core/money/budget-day.ts";
import type { EventOf, SessionEvent } from "../../../core/events/events.ts";
import { type Billing, toolsOf } from "../../../core/money/ledger.ts";
import type { Database } from "../file/database.ts";

/**
 * What appends write in addition to the log. `ledger` has one row per model request; `spend` has the totals, so that a
 * budget check costs the same however much was spent before. `reservations` has the estimated cost of running requests.
 */
export const LEDGER_TABLES = `
  CREATE TABLE ledger (
    -- Of the event that ended the request. A session that is imported twice was still paid for once.
    event_id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    seq INTEGER NOT NULL,
    -- Milliseconds since the epoch. In which day that lies depends on the time zone of whoever asks.
    at INTEGER NOT NULL,
    project TEXT NOT NULL,
    agent TEXT NOT NULL,
    -- Empty for the primary line.
    thread TEXT NOT NULL,
    model TEXT NOT NULL,
    -- A JSON list.
    tools TEXT NOT NULL,
    billing TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_read_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    cache_write_1h_tokens INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    -- NULL when the price is not known.
    usd REAL,
    estimated INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX ledger_by_session ON ledger (session_id, seq);
  CREATE INDEX ledger_by_time ON ledger (at, project);

  CREATE TABLE spend (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    -- A quarter of an hour for a day's sums; -1 for sums over all time.
    bucket INTEGER NOT NULL,
    -- Empty for turns and tool calls, which nobody is billed for.
    billing TEXT NOT NULL,
    usd REAL NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_tokens INTEGER NOT NULL,
    turns INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    PRIMARY KEY (scope, key, bucket, billing)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE reservations (
    id TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    -- Of the lease under which it was made.
    fence INTEGER NOT NULL,
    project TEXT NOT NULL,
    agent TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    usd REAL NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_tokens INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX reservations_by_project ON reservations (project, agent);
`;

export const ALL_TIME = -1;

/** Whose event it is. */
export interface Spender {
  readonly sessionId: string;
  readonly project: string;
  readonly agent: string;
}

export function agentKey(project: string, agent: string): string {
  return `${agent} ${project}`;
}

export interface SpendFact extends Spender {
  readonly seq: number;
  readonly event: SessionEvent;
  /** How many turns the event started: none or one. */
  readonly turns: number;
}

export interface Sums {
  readonly billing: Billing | "";
  readonly usd: number;
  readonly input: number;
  readonly output: number;
  readonly cache: number;
  readonly turns: number;
  readonly toolCalls: number;
  readonly unpriced: number;
}

export const ZERO_SUMS = { usd: 0, input: 0, output: 0, cache: 0, turns: 0, toolCalls: 0, unpriced: 0 };

/** Call this for every event of an append, in its transaction. */
export function spendProjection(database: Database): (fact: SpendFact) => void {
  const insert = database.prepare(
    `INSERT INTO ledger VALUES (${Array(18).fill("?").join(", ")}) ON CONFLICT DO NOTHING`,
  );
  const add = database.prepare(
    `INSERT INTO spend VALUES (${Array(11).fill("?").join(", ")})
     ON CONFLICT DO UPDATE SET usd = usd + excluded.usd, input_tokens = input_tokens + excluded.input_tokens,
       output_tokens = output_tokens + excluded.output_tokens, cache_tokens = cache_tokens + excluded.cache_tokens,
       turns = turns + excluded.turns, tool_calls = tool_calls + excluded.tool_calls, unpriced = unpriced + excluded.unpriced`,
  );
  const settle = database.prepare("DELETE FROM reservations WHERE id = ?");

  function addTo(scope: string, key: string, { bucket, sums }: { bucket: number; sums: Sums }): void {
    const { billing, usd, input, output, cache, turns, toolCalls, unpriced } = sums;
    add.run(scope, key, bucket, billing, usd, input, output, cache, turns, toolCalls, unpriced);
  }

  function addToShared({ project, agent }: Spender, at: number, sums: Sums): void {
    addTo("agent", agentKey(project, agent), { bucket: ALL_TIME, sums });
    addTo("project", project, { bucket: ALL_TIME, sums });
    addTo("day", project, { bucket: bucketOf(at), sums });
  }

  return (fact) => {
    const { event, sessionId, turns } = fact;
    const at = Date.parse(event.processed_at ?? "") || 0;
    if (event.type === "span.model_request_end") {
      const sums = sumsOf(event);
      settle.run(event.model_request_start_id);
      addTo("session", sessionId, { bucket: ALL_TIME, sums });
      const { changes } = insert.run(...Object.values(rowOf(fact, event)));
      if (changes > 0) addToShared(fact, at, sums);
    } else if (turns > 0) {
      addToShared(fact, at, { ...ZERO_SUMS, billing: "", turns });
    } else if (event.type === "capstan.permission_decided" && event.decision === "allow") {
      addToShared(fact, at, { ...ZERO_SUMS, billing: "", toolCalls: 1 });
    }
  };
}

/** Rounds, so that the log can be written whatever a model API reports. */
function whole(figure: number): number {
  return Math.min(Math.round(figure), Number.MAX_SAFE_INTEGER);
}

type RequestEnd = EventOf<"span.model_request_end">;

export function sumsOf({ model_usage: usage, usd, billing = "paid" }: RequestEnd): Sums {
  return {
    ...ZERO_SUMS,
    billing,
    usd: usd ?? 0,
    input: whole(usage.input_tokens),
    output: whole(usage.output_tokens),
    cache: whole(usage.cache_read_input_tokens + usage.cache_creation_input_tokens),
    unpriced: usd === null ? 1 : 0,
  };
}

/** The ledger row of a request. */
export function rowOf(
  { sessionId, project, agent, seq }: Pick<SpendFact, "sessionId" | "project" | "agent" | "seq">,
  event: RequestEnd,
): LedgerRecord {
  const { id, session_thread_id: thread, model, model_usage: usage, usd, billing = "paid" } = event;
  return {
    event_id: id,
    session_id: sessionId,
    seq,
    at: Date.parse(event.processed_at ?? "") || 0,
    project,
    agent,
    thread: thread ?? "",
    model,
    tools: JSON.stringify(toolsOf(event.tools, event.request_class)),
    billing,
    input_tokens: whole(usage.input_tokens),
    output_tokens: whole(usage.output_tokens),
    cache_read_tokens: whole(usage.cache_read_input_tokens),
    cache_write_tokens: whole(usage.cache_creation_input_tokens),
    cache_write_1h_tokens: whole(usage.cache_creation_1h_input_tokens ?? 0),
    web_searches: whole(usage.web_search_requests ?? 0),
    usd,
    estimated: event.estimated ? 1 : 0,
  };
}
