import { z } from "zod";
import { budgetSettings, isTimeZone } from "../../core/money/budget-schema.ts";
import { limitReached } from "../../core/events/capstan.ts";
import { BILLINGS, GROUPINGS, type LedgerLine, problemWithSplit, SPLITS } from "../../core/money/ledger.ts";
import { timestamp } from "./common.ts";

export const ledgerLine = z.object({
  key: z.string().describe("The day, agent, model, session, project, thread or tool."),
  part: z.string().nullable().describe("With `split`: what the line is the part of; null without."),
  billing: z
    .enum(BILLINGS)
    .describe("`paid` by use, `included` in a subscription, or `rehearsal`: never to be added up."),
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
      "Divides each line once more: `by=day&split=agent` has a line for each day and agent. Lines by tool cannot be.",
    ),
  since: timestamp.optional(),
  time_zone: z
    .string()
    .refine(isTimeZone, "expected a time zone such as Europe/Berlin or UTC")
    .optional()
    .describe("For days: where they begin. Default: as in the settings, else UTC."),
});

export const ledgerQuery = query.superRefine(({ by, split }, context) => {
  const message = split && problemWithSplit(by, split);
  if (message !== undefined) context.addIssue({ code: "custom", path: ["split"], message });
});
export type LedgerSearch = Partial<z.output<typeof query>>;

export const ledger = z.object({
  by: z.enum(GROUPINGS),
  split: z.enum(SPLITS).nullable(),
  time_zone: z.string().describe("Where days begin, when the lines are days."),
  data: z.array(ledgerLine),
});
export type WireLedger = z.infer<typeof ledger>;

export const budgetLine = z.object({
  scope: z.enum(["project", "day", "agent"]),
  name: z.string().describe("The agent's name, or the project."),
  which: limitReached.shape.which.describe("What is limited, such as `usd` or `tokens`."),
  limit: z.number(),
  spent: z.number(),
  reserved: z.number().describe("Held for requests under way."),
  left: z.number().describe("What the next request may cost at most."),
  day: z.string().optional().describe("For the limits of a day: its date."),
});
export type WireBudgetLine = z.infer<typeof budgetLine>;

export const budgets = z.object({
  settings: budgetSettings,
  lines: z.array(budgetLine).describe("How each limit stands in this project now; empty when there are none."),
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
