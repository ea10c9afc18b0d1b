import { z } from "zod";

/** How users write limits. See budget.ts and budget-scopes.ts for how they are applied. */

/** The largest limit, which has no effect. */
export const NO_USD_LIMIT = 1_000_000;
/** A larger limit has no effect, and is probably a mistake. */
const MAX_TOKENS = 1_000_000_000_000;
const MAX_COUNT = 1_000_000_000;
/** The longest possible timer, about 24 days. */
const MAX_TIMER_MS = 2_147_483_647;

const tokens = z.int().positive().max(MAX_TOKENS).optional();
const count = z.int().positive().max(MAX_COUNT).optional();
/** A share of every limit in USD or tokens. */
const share = z.number().positive().max(1).optional();

const limits = {
  usd: z.number().positive().max(NO_USD_LIMIT).optional(),
  /** Input, output and cache together. */
  tokens,
  /** Without the cache. */
  input_tokens: tokens,
  output_tokens: tokens,
  /** Read from and written to the cache. */
  cache_tokens: tokens,
  turns: count,
  tool_calls: count,
  /** Per turn. */
  deadline_ms: z.int().positive().max(MAX_TIMER_MS).optional(),
  warn_at: share,
  ask_at: share,
};

/**
 * Limits of the whole session, except `steps` (model answers of the primary thread) and `deadline_ms`, which apply to
 * one turn.
 */
export const sessionBudget = z.strictObject({ ...limits, steps: count });

const scopeBudget = z.strictObject(limits);
const dayBudget = z.strictObject({
  ...limits,
  time_zone: z.string().refine(isTimeZone, { error: notATimeZone }).optional(),
});

const agentName = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, "an agent's name");

/** Limits beyond one session. They count the spend of all sessions of a project, whichever process drives them. */
export const budgetSettings = z.strictObject({
  project: scopeBudget.optional(),
  /** One day of a project, from midnight to midnight in `time_zone` (default: UTC). */
  day: dayBudget.optional(),
  /** By agent name: all its sessions in a project. */
  agents: z.record(agentName, scopeBudget).optional(),
  /** The assumed length of an answer until a session has enough answers to estimate it. */
  reserve_output_tokens: z.int().positive().max(1_000_000).optional(),
});

export type SessionBudget = z.infer<typeof sessionBudget>;
export type ScopeBudget = z.infer<typeof scopeBudget>;
export type BudgetSettings = z.infer<typeof budgetSettings>;

export const DEFAULT_RESERVE_OUTPUT_TOKENS = 1_024;

/** An IANA name. An offset such as `+02:00` is not accepted, because it has no daylight saving time. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function notATimeZone({ input }: { readonly input?: unknown }): string {
  return `expected a time zone such as Europe/Berlin or UTC (found ${JSON.stringify(input)})`;
}

export const limitName = z.enum([
  "usd",
  "tokens",
  "input_tokens",
  "output_tokens",
  "cache_tokens",
  "turns",
  "steps",
  "tool_calls",
  "deadline",
  // From the environment, for all processes of the session together.
  "memory_bytes",
  "processes",
  "cpu_seconds",
]);
export type LimitName = z.infer<typeof limitName>;

/** A limit without room left. */
export interface LimitHit {
  readonly which: LimitName;
  readonly limit: number;
  readonly spent: number;
  /** The limit's scope (default: the session). */
  readonly scope?: "session" | "agent" | "project" | "day";
  /** Reserved for running requests, and the refused request's estimate. */
  readonly reserved?: number;
  readonly needed?: number;
}
