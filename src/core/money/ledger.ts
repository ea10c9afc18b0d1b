import type { Amounts, ScopeLimits, Standing, Verdict } from "./budget-scopes.ts";
import type { LimitHit } from "../session/session-limits.ts";

/**
 * The ledger: what every model request cost, kept by the store from the same events as the log, in the same
 * transaction, so that the two never differ.
 */

/** Who pays: by use, a subscription that includes it, or nobody because the model was the scripted one. */
export const BILLINGS = ["paid", "included", "rehearsal"] as const;
export type Billing = (typeof BILLINGS)[number];

export const GROUPINGS = ["day", "agent", "model", "session", "project", "thread", "tool"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** What the lines of a grouping can be divided by. */
export const SPLITS = ["agent", "model", "session", "project", "thread", "tool"] as const satisfies readonly Grouping[];
export type Split = (typeof SPLITS)[number];

/**
 * Why a grouping cannot be divided so, and what to do; undefined when it can. A request that read the results of several
 * tools is divided among them evenly, and what is left over would fall to others when there are two divisions.
 */
export function problemWithSplit(by: Grouping, split: Split): string | undefined {
  if (by === split) return `the lines are by ${by} already; leave split out, or name another one`;
  if (by === "tool") return `lines by tool cannot be split; ask for by=${split}&split=tool instead`;
  return undefined;
}

export interface LedgerQuery {
  readonly by: Grouping;
  /** Divides each line. `problemWithSplit` tells which cannot be. */
  readonly split?: Split;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly project?: string;
  /** For `by: "day"`: where the days begin. Default: UTC. */
  readonly timeZone?: string;
}

/** Tokens, searches and money that belong together. Sums of different billing are never added up. */
export interface LedgerLine {
  /** The day, agent, model, session, project, thread or tool. */
  readonly key: string;
  /** With `split`: the agent, model, session, project, thread or tool that the line is the part of. */
  readonly part?: string;
  readonly billing: Billing;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly webSearches: number;
  /** List price of the requests that have one. */
  readonly usd: number;
  /** Requests without a known price: their cost is not in `usd`. */
  readonly unpricedRequests: number;
  /** Requests that were cut off, so that their tokens are estimated. */
  readonly estimatedRequests: number;
}

/** Stands for the primary line where threads are listed. */
export const PRIMARY_THREAD = "(primary)";
/** Stands for the tool of a request that reads no tool's result, but what a person or another agent said. */
const NO_TOOL = "(message)";

/** The tool column of a request: the tools whose results it is the first to read, or the sort of request it is. */
export function toolsOf(tools: readonly string[] | undefined, requestClass: string): readonly string[] {
  if (tools !== undefined && tools.length > 0) return tools;
  return [requestClass === "auxiliary" || requestClass === "compaction" ? `(${requestClass})` : NO_TOOL];
}

export interface LedgerStore {
  /** Lines by key, part and billing, the largest first; days and sessions newest first. */
  lines(query: LedgerQuery): Promise<readonly LedgerLine[]>;
  /** How scopes of a project stand now, in their order, as `reserve` would find them. Not for the scope of a session. */
  standings(
    project: string,
    scopes: readonly ScopeLimits[],
  ): Promise<readonly (ScopeLimits & { standing: Standing })[]>;
  /** Output tokens of a session's last whole answers, newest first. */
  recentOutputs(sessionId: string, limit: number): Promise<readonly number[]>;
  /**
   * Holds an amount for a request that is about to be sent, if every scope has room for it: what is settled, what is
   * held for requests under way of any process, and this one together. Rejects with `lease_lost` when the fence is old.
   */
  reserve(request: ReservationRequest): Promise<Verdict>;
  /** Gives back what was held for a request that was never sent. A request that was is settled by the log. */
  release(reservationId: string): Promise<void>;
  /** The limit of one of the scopes that forbids the session another tool call. */
  limitOnToolCall(sessionId: string, scopes: readonly ScopeLimits[]): Promise<LimitHit | undefined>;
}

export interface ReservationRequest {
  /** The id of the `span.model_request_start` that follows; the end of that span settles it. */
  readonly id: string;
  readonly sessionId: string;
  readonly fence: number;
  readonly amounts: Amounts;
  readonly scopes: readonly ScopeLimits[];
  /** Keys of the crossings that a person has agreed to go beyond. */
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

/** Lines with the same key, part and billing become one. */
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
 * Evenly, one line for each name, which becomes its key or its part. What cannot be divided goes to the first ones, so
 * that the sums stay what they were.
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
