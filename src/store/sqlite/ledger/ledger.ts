import { BUCKET_MS, dayOf } from "../../../core/money/budget-day.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import {
  type Billing,
  type Grouping,
  type LedgerLine,
  type LedgerQuery,
  type LedgerStore,
  mergeLines,
  PRIMARY_THREAD,
  type Split,
  splitLine,
} from "../../../core/money/ledger.ts";
import type { Database } from "../file/database.ts";
import { reservationTable } from "./reservations.ts";

interface LineRow {
  readonly key: string | number;
  /** NULL if the lines are not split. */
  readonly part: string | null;
  readonly billing: Billing;
  readonly requests: number;
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly searches: number;
  readonly usd: number;
  readonly unpriced: number;
  readonly estimated: number;
}

/** Groupings in SQL. Days are composed of buckets that no zone's midnight splits. */
const KEYS: Readonly<Record<Grouping, string>> = {
  day: `at / ${BUCKET_MS}`,
  agent: "agent",
  model: "model",
  session: "session_id",
  project: "project",
  thread: `iif(thread = '', '${PRIMARY_THREAD}', thread)`,
  tool: "tools",
};

/** Uses the index on time; a query without `since` reads every row. */
const selectLines = (by: Grouping, split: Split | undefined): string => `
  SELECT ${KEYS[by]} AS key, billing, ${split === undefined ? "NULL" : KEYS[split]} AS part, count(*) AS requests, sum(input_tokens) AS input, sum(output_tokens) AS output,
    sum(cache_read_tokens) AS cache_read, sum(cache_write_tokens) AS cache_write, sum(web_searches) AS searches,
    total(usd) AS usd, sum(usd IS NULL) AS unpriced, sum(estimated) AS estimated
  FROM ledger WHERE at >= :since AND (:project IS NULL OR project = :project) GROUP BY 1, 2, 3`;

export function ledgerTable(database: Database, clock: Clock): LedgerStore {
  const selectOutputs = database.prepare(
    "SELECT output_tokens AS output FROM ledger WHERE session_id = ? AND estimated = 0 AND output_tokens > 0 ORDER BY seq DESC LIMIT ?",
  );

  return {
    ...reservationTable(database, clock),

    async lines({ by, split, since = 0, project, timeZone = "UTC" }) {
      const select = database.prepare(selectLines(by, split));
      const rows = database.read(() => select.all<LineRow>({ since, project: project ?? null }));
      const lines = rows.map(toLine).flatMap((line) => keyLines(line, { by, split, timeZone }));
      return mergeLines(lines).toSorted(order(by));
    },

    async recentOutputs(sessionId, limit) {
      return database.read(() => {
        const rows = selectOutputs.all<{ readonly output: number }>(sessionId, limit);
        return rows.map(({ output }) => output);
      });
    },
  };
}

type Grouped = Pick<LedgerQuery, "by" | "split"> & { readonly timeZone: string };

function keyLines(row: LedgerLine, { by, split, timeZone }: Grouped): LedgerLine[] {
  if (by === "tool") return splitLine(row, JSON.parse(row.key) as string[]);
  const line = by === "day" ? { ...row, key: dayOf(Number(row.key) * BUCKET_MS, timeZone) } : row;
  return split === "tool" ? splitLine(line, JSON.parse(line.part ?? "[]") as string[], "part") : [line];
}

/** Days and sessions by time, which is in their ids; everything else by cost, then by name. Parts of one by cost. */
function order(by: LedgerQuery["by"]): (a: LedgerLine, b: LedgerLine) => number {
  if (by === "day" || by === "session") return (a, b) => -byName(a.key, b.key) || byPart(a, b);
  return (a, b) => b.usd - a.usd || byName(a.key, b.key) || byPart(a, b);
}

function byPart(a: LedgerLine, b: LedgerLine): number {
  return a.part === undefined || b.part === undefined ? 0 : b.usd - a.usd || byName(a.part, b.part);
}

function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function toLine(row: LineRow): LedgerLine {
  return {
    key: String(row.key),
    ...(row.part !== null && { part: row.part }),
    billing: row.billing,
    requests: row.requests,
    inputTokens: row.input,
    outputTokens: row.output,
    cacheReadTokens: row.cache_read,
    cacheWriteTokens: row.cache_write,
    webSearches: row.searches,
    usd: row.usd,
    unpricedRequests: row.unpriced,
    estimatedRequests: row.estimated,
  };
}
