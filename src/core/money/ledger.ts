import type { Amounts, ScopeLimits, Standing, BudgetVerdict } from "./budget-scopes.ts";
import type { LimitHit } from "./budget-schema.ts";

/**
 * The ledger: the cost of every model request. The store derives it from the log's events in the same transaction, so
 * that the two never differ.
 */

/** Who pays: by use, included in a subscription, or nobody because the model was the scripted one. */
export const BILLINGS = ["paid", "included", "rehearsal"] as const;
export type Billing = (typeof BILLINGS)[number];

export const GROUPINGS = ["day", "agent", "model", "session", "project", "thread", "tool"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What the lines of a grouping can be split by. */
export const SPLITS = ["agent", "model", "session", "project", "thread", "tool"] as const satisfies readonly Grouping[];
export type Split = (typeof SPLITS)[number];

/**
 * Why a grouping can't be split this way, and what to do; undefined if it can. A request that read the results of
 * several tools is split among them evenly; with two splits, the remainder would be assigned inconsistently.
 */
export function problemWithSplit(by: Grouping, split: Split): string | undefined {
  if (by === split) return `the lines are grouped by ${by} already; omit split, or use another one`;
  if (by === "tool") return `lines by tool cannot be split; use by=${split}&split=tool instead`;
  return undefined;
}

export interface LedgerQuery {
  readonly by: Grouping;
  /** Splits each line. See `problemWithSplit` for what is possible. */
  readonly split?: Split;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly project?: string;
  /** For `by: "day"`: the time zone of the days (default: UTC). */
  readonly timeZone?: string;
}

/** Tokens, searches and cost. Amounts with different billing are never added up. */
export interface LedgerLine {
  /** The day, agent, model, session, project, thread or tool. */
  readonly key: string;
  /** With `split`: the agent, model, session, project, thread or tool of this part. */
  readonly part?: string;
  readonly billing: Billing;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly webSearches: number;
  /** List price of the requests with a known price. */
  readonly usd: number;
  /** Requests with an unknown price, not included in `usd`. */
  readonly unpricedRequests: number;
  /** Requests that were cut off, with estimated tokens. */
  readonly estimatedRequests: number;
}

/** The name of the primary thread in lists of threads. */
export const PRIMARY_THREAD = "(primary)";
/** The tool name of a request that reads no tool result, but a message of a person or another agent. */
const NO_TOOL = "(message)";

/** The tool column of a request: the tools whose results it is the first to include, or its request class. */
export function toolsOf(tools: readonly string[] | undefined, requestClass: string): readonly string[] {
  if (tools !== undefined && tools.length > 0) return tools;
  return [requestClass === "auxiliary" || requestClass === "compaction" ? `(${requestClass})` : NO_TOOL];
}

export interface LedgerStore {
  /** Lines by key, part and billing, largest first; days and sessions newest first. */
  lines(query: LedgerQuery): Promise<readonly LedgerLine[]>;
  /**
   * The current state of a project's scopes, in the given order, as `reserve` would see them. Not for session scopes.
   */
  standings(
    project: string,
    scopes: readonly ScopeLimits[],
  ): Promise<readonly (ScopeLimits & { standing: Standing })[]>;
  /** Output tokens of a session's last complete answers, newest first. */
  recentOutputs(sessionId: string, limit: number): Promise<readonly number[]>;
  /**
   * Reserves an amount for a request that is about to be sent, if every scope has room for the settled spend, the
   * reservations of running requests of any process, and this one. Rejects with `lease_lost` if the fence is old.
   */
  reserve(request: ReservationRequest): Promise<BudgetVerdict>;
  /** Releases the reservation of a request that was never sent. The log settles requests that were. */
  release(reservationId: string): Promise<void>;
  /** The limit in one of the scopes that forbids the session another tool call. */
  limitOnToolCall(sessionId: string, scopes: readonly ScopeLimits[]): Promise<LimitHit | undefined>;
}

export interface ReservationRequest {
  /** The id of the `span.model_request_start` that follows; the end of that span settles it. */
  readonly id: string;
  readonly sessionId: string;
  readonly fence: number;
  readonly amounts: Amounts;
  readonly scopes: readonly ScopeLimits[];
  /** Keys of the crossings that a person agreed to exceed. */
  readonly agreed: readonly string[];
}

const FIGURES = [
  "requests",
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "webSearches",
  "unpricedRequests",
  "estimatedRequests",
] as const satisfies readonly (keyof LedgerLine)[];

/** Merges lines with the same key, part and billing. */
export function mergeLines(lines: readonly LedgerLine[]): LedgerLine[] {
  const merged = new Map<string, LedgerLine>();
  for (const line of lines) {
    const id = JSON.stringify([line.billing, line.key, line.part]);
    const known = merged.get(id);
    merged.set(id, known === undefined ? line : addLines(known, line));
  }
  return [...merged.values()];
}

export function addLines(a: LedgerLine, b: LedgerLine): LedgerLine {
  const figures = Object.fromEntries(FIGURES.map((name) => [name, a[name] + b[name]])) as Pick<
    LedgerLine,
    (typeof FIGURES)[number]
  >;
  const { key, part, billing } = a;
  return { key, ...(part !== undefined && { part }), billing, ...figures, usd: a.usd + b.usd };
}

/**
 * Splits a line evenly, one line per name, which becomes its key or its part. Remainders go to the first lines, so that
 * the sums stay the same.
 */
export function splitLine(line: LedgerLine, names: readonly string[], as: "key" | "part" = "key"): LedgerLine[] {
  return names.map((name, index) => {
    const share = (whole: number): number => Math.floor(whole / names.length) + (index < whole % names.length ? 1 : 0);
    const figures = Object.fromEntries(FIGURES.map((figure) => [figure, share(line[figure])])) as Pick<
      LedgerLine,
      (typeof FIGURES)[number]
    >;
    return { ...line, ...figures, usd: line.usd / names.length, [as]: name };
  });
}
