import type { ScopeBudget } from "./budget-schema.ts";
import type { LimitHit, LimitName } from "./budget-schema.ts";

/**
 * What a model request may still cost, in every scope it belongs to: the session, its agent, its project and the day.
 * Pure arithmetic; a store calls it inside the transaction that saves the reservation.
 */

export const SCOPES = ["session", "agent", "project", "day"] as const;
export type BudgetScope = (typeof SCOPES)[number];

/** The cost of a request, or of all requests in a scope. */
export interface Amounts {
  readonly usd: number;
  readonly input: number;
  readonly output: number;
  readonly cache: number;
}

export const NO_AMOUNTS: Amounts = { usd: 0, input: 0, output: 0, cache: 0 };

export function addAmounts(a: Amounts, b: Amounts): Amounts {
  return { usd: a.usd + b.usd, input: a.input + b.input, output: a.output + b.output, cache: a.cache + b.cache };
}

/** The state of a scope before a request. */
export interface Standing {
  readonly spent: Amounts & { readonly turns: number; readonly toolCalls: number };
  /** Reserved by running requests. */
  readonly reserved: Amounts;
}

export interface ScopeLimits {
  readonly scope: BudgetScope;
  readonly limits: ScopeBudget;
  /** For an agent: its name. */
  readonly agent?: string;
  /** For scopes beyond a session: the projects whose spend counts together (default: the session's own). */
  readonly projects?: readonly string[];
  /** For a day: its date, and its first time bucket. */
  readonly day?: { readonly date: string; readonly fromBucket: number };
}

/** A share of a limit that was passed. With `ask`, a person must agree before more is spent. */
export interface Crossing {
  readonly kind: "warn" | "ask";
  readonly scope: BudgetScope;
  readonly which: LimitName;
  readonly limit: number;
  readonly spent: number;
  /** The share, as configured. */
  readonly at: number;
  readonly day?: string;
}

/** Identifies a crossing: each is reported, or asked about, once. */
export function crossingKey({ kind, scope, which, limit, at, day = "" }: Omit<Crossing, "spent">): string {
  return [kind, scope, which, limit, at, day].join(" ");
}

export type BudgetVerdict =
  | { readonly kind: "granted"; readonly warnings: readonly Crossing[] }
  | { readonly kind: "ask"; readonly crossing: Crossing }
  | { readonly kind: "refused"; readonly hit: LimitHit };

/** The first limit that the request would exceed decides, then the first share that nobody has agreed to exceed. */
export function judgeBudget(
  scopes: readonly (ScopeLimits & { readonly standing: Standing })[],
  { needed, agreed }: { readonly needed: Amounts; readonly agreed: readonly string[] },
): BudgetVerdict {
  for (const scope of scopes) {
    const hit = firstHit(scope, needed);
    if (hit !== undefined) return { kind: "refused", hit };
  }
  const crossings = scopes.flatMap(crossingsOf);
  const question = crossings.find((crossing) => crossing.kind === "ask" && !agreed.includes(crossingKey(crossing)));
  if (question !== undefined) return { kind: "ask", crossing: question };
  return { kind: "granted", warnings: crossings.filter(({ kind }) => kind === "warn") };
}

/** The limit in one of the scopes that forbids another tool call. */
export function judgeToolCall(
  scopes: readonly (ScopeLimits & { readonly standing: Standing })[],
): LimitHit | undefined {
  for (const { scope, limits, standing } of scopes) {
    const { tool_calls: limit } = limits;
    const { toolCalls: spent } = standing.spent;
    if (limit !== undefined && spent >= limit) return { scope, which: "tool_calls", limit, spent };
  }
  return undefined;
}

const MEASURES: readonly (readonly [
  which: "usd" | "tokens" | "input_tokens" | "output_tokens" | "cache_tokens",
  of: (amounts: Amounts) => number,
])[] = [
  ["usd", ({ usd }) => usd],
  ["tokens", ({ input, output, cache }) => input + output + cache],
  ["input_tokens", ({ input }) => input],
  ["output_tokens", ({ output }) => output],
  ["cache_tokens", ({ cache }) => cache],
];

/** Whether a scope has a limit that a model request may exceed. */
export function isMeasured({ limits }: ScopeLimits): boolean {
  return limits.turns !== undefined || MEASURES.some(([which]) => limits[which] !== undefined);
}

/** Sums of prices are inexact: a rounding error must not exceed a limit. */
const ROUNDING = 1e-9;

function firstHit(
  { scope, limits, standing }: ScopeLimits & { standing: Standing },
  needed: Amounts,
): LimitHit | undefined {
  for (const [which, of] of MEASURES) {
    const limit = limits[which];
    if (limit === undefined) continue;
    const spent = of(standing.spent);
    const reserved = of(standing.reserved);
    const more = of(needed);
    if (spent >= limit || spent + reserved + more > limit + ROUNDING)
      return { scope, which, limit, spent, reserved, needed: more };
  }
  // The requesting turn is already counted.
  const { turns } = standing.spent;
  if (limits.turns !== undefined && turns > limits.turns)
    return { scope, which: "turns", limit: limits.turns, spent: turns - 1 };
  return undefined;
}

function crossingsOf({ scope, limits, day, standing }: ScopeLimits & { standing: Standing }): Crossing[] {
  return (["warn", "ask"] as const).flatMap((kind) => {
    const at = kind === "warn" ? limits.warn_at : limits.ask_at;
    if (at === undefined) return [];
    return MEASURES.flatMap(([which, of]): Crossing[] => {
      const limit = limits[which];
      const spent = of(standing.spent);
      if (limit === undefined || spent < limit * at) return [];
      return [{ kind, scope, which, limit, spent, at, ...(day !== undefined && { day: day.date }) }];
    });
  });
}

/** How much of a limit is used. */
export interface LimitStanding {
  readonly which: LimitName;
  readonly limit: number;
  readonly spent: number;
  /** Reserved for running requests. */
  readonly reserved: number;
  /** The maximum cost of the next request. */
  readonly left: number;
}

/** All limits of a scope that count spend, counted as in `judge` and `judgeToolCall`. A deadline counts nothing. */
export function limitStandings({ limits, standing }: ScopeLimits & { readonly standing: Standing }): LimitStanding[] {
  const { turns, toolCalls } = standing.spent;
  const counted: readonly (readonly [which: keyof ScopeBudget & LimitName, spent: number, reserved: number])[] = [
    ...MEASURES.map(([which, of]) => [which, of(standing.spent), of(standing.reserved)] as const),
    ["turns", turns, 0],
    ["tool_calls", toolCalls, 0],
  ];
  return counted.flatMap(([which, spent, reserved]) => {
    const limit = limits[which];
    return limit === undefined ? [] : [{ which, limit, spent, reserved, left: Math.max(0, limit - spent - reserved) }];
  });
}
