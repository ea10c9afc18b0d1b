import { z } from "zod";

/** How people write limits. What counts against them is in budget.ts and budget-scopes.ts. */

/** The largest limit there is, which limits nothing. */
export const NO_USD_LIMIT = 1_000_000;
/** Above these a limit limits nothing, and was most likely meant otherwise. */
const MAX_TOKENS = 1_000_000_000_000;
const MAX_COUNT = 1_000_000_000;
/** What a timer can wait, some 24 days. */
const MAX_TIMER_MS = 2_147_483_647;

const tokens = z.int().positive().max(MAX_TOKENS).optional();
const count = z.int().positive().max(MAX_COUNT).optional();
/** A share of every limit in USD or tokens. */
const share = z.number().positive().max(1).optional();

const limits = {
  usd: z.number().positive().max(NO_USD_LIMIT).optional(),
  /** Input, output and cache together. */
  tokens,
  /** Not from the cache. */
  input_tokens: tokens,
  output_tokens: tokens,
  /** Read from the cache and written to it. */
  cache_tokens: tokens,
  turns: count,
  tool_calls: count,
  /** For each turn. */
  deadline_ms: z.int().positive().max(MAX_TIMER_MS).optional(),
  warn_at: share,
  ask_at: share,
};

/** Every limit is for the whole session, but `steps` (model answers of the primary line) and `deadline_ms`: for one turn. */
export const sessionBudget = z.strictObject({ ...limits, steps: count });

const scopeBudget = z.strictObject(limits);
const dayBudget = z.strictObject({
  ...limits,
  time_zone: z.string().refine(isTimeZone, { error: notATimeZone }).optional(),
});

const agentName = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, "an agent's name");

/** Limits beyond one session. They count what all sessions of a project spend, whichever process drives them. */
export const budgetSettings = z.strictObject({
  project: scopeBudget.optional(),
  /** One day of a project, from midnight to midnight in `time_zone`; UTC when none is named. */
  day: dayBudget.optional(),
  /** By the agent's name: all its sessions in a project. */
  agents: z.record(agentName, scopeBudget).optional(),
  /** How long an answer is taken to become before a session has given enough of them to judge by. */
  reserve_output_tokens: z.int().positive().max(1_000_000).optional(),
});

export type SessionBudget = z.infer<typeof sessionBudget>;
export type ScopeBudget = z.infer<typeof scopeBudget>;
export type BudgetSettings = z.infer<typeof budgetSettings>;

export const DEFAULT_RESERVE_OUTPUT_TOKENS = 1_024;

/** A name of the IANA data base. An offset such as `+02:00` is none: it knows no summer. */
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
