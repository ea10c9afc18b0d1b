import { z } from "zod";
import { budgetSettings, isTimeZone } from "../../core/money/budget-schema.ts";
import { limitReached } from "../../core/events/capstan.ts";
import { BILLINGS, GROUPINGS, type LedgerLine, problemWithSplit, SPLITS } from "../../core/money/ledger.ts";
import { timestamp } from "./common.ts";

export const ledgerLine = z.object({
  key: z.string().describe("The day, agent, model, session, project, thread or tool."),
  part: z.string().nullable().describe("With `split`: the value that the line is divided by; otherwise null."),
  billing: z
    .enum(BILLINGS)
    .describe("paid` by use, `included` in a subscription, or `rehearsal`. Do not add up lines that differ in this."),
  requests: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number(),
  cache_write_tokens: z.number(),
  web_searches: z.number(),
  usd: z.number().describe("List price of the requests that have one."),
  unpriced_requests: z.number(),
  estimated_requests: z.number(),
});
export type WireLedgerLine = z.infer<typeof ledgerLine>;

const query = z.strictObject({
  by: z.enum(GROUPINGS).default("day"),
  split: z
    .enum(SPLITS)
    .optional()
    .describe(
      "Divides each line once more: `by=day&split=agent` has a line for each day and agent. Lines by tool cannot be divided.",
    ),
  since: timestamp.optional(),
  time_zone: z
    .string()
    .refine(isTimeZone, "expected a time zone such as Europe/Berlin or UTC")
    .optional()
    .describe("The time zone of days. Default: as in the settings, otherwise UTC."),
});

export const ledgerQuery = query.superRefine(({ by, split }, context) => {
  const message = split && problemWithSplit(by, split);
  if (message !== undefined) context.addIssue({ code: "custom", path: ["split"], message });
});
export type LedgerSearch = Partial<z.output<typeof query>>;

export const ledger = z.object({
  by: z.enum(GROUPINGS),
  split: z.enum(SPLITS).nullable(),
  time_zone: z.string().describe("The time zone of days, if the lines are days."),
  data: z.array(ledgerLine),
});
export type WireLedger = z.infer<typeof ledger>;

export const budgetLine = z.object({
  scope: z.enum(["project", "day", "agent"]),
  name: z.string().describe("The agent's name, or the project."),
  which: limitReached.shape.which.describe("The limited quantity, such as `usd` or `tokens`."),
  limit: z.number(),
  spent: z.number(),
  reserved: z.number().describe("Reserved for requests in progress."),
  left: z.number().describe("The most that the next request may cost."),
  day: z.string().optional().describe("For a day's limits: the date."),
});
export type WireBudgetLine = z.infer<typeof budgetLine>;

export const budgets = z.object({
  settings: budgetSettings,
  lines: z.array(budgetLine).describe("The current use of each limit in this project; empty if there are none."),
});
export type WireBudgets = z.infer<typeof budgets>;

export function ledgerLineToWire(line: LedgerLine): WireLedgerLine {
  return {
    key: line.key,
    part: line.part ?? null,
    billing: line.billing,
    requests: line.requests,
    input_tokens: line.inputTokens,
    output_tokens: line.outputTokens,
    cache_read_tokens: line.cacheReadTokens,
    cache_write_tokens: line.cacheWriteTokens,
    web_searches: line.webSearches,
    usd: line.usd,
    unpriced_requests: line.unpricedRequests,
    estimated_requests: line.estimatedRequests,
  };
}

export function ledgerLineFromWire(line: WireLedgerLine): LedgerLine {
  return {
    key: line.key,
    ...(line.part !== null && { part: line.part }),
    billing: line.billing,
    requests: line.requests,
    inputTokens: line.input_tokens,
    outputTokens: line.output_tokens,
    cacheReadTokens: line.cache_read_tokens,
    cacheWriteTokens: line.cache_write_tokens,
    webSearches: line.web_searches,
    usd: line.usd,
    unpricedRequests: line.unpriced_requests,
    estimatedRequests: line.estimated_requests,
  };
}
