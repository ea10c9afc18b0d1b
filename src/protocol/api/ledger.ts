import { z } from "zod";
import { budgetSettings, isTimeZone } from "../../core/budget-schema.ts";
import { BILLINGS, GROUPINGS, type LedgerLine } from "../../core/ledger.ts";
import { timestamp } from "./common.ts";

export const ledgerLine = z.object({
  key: z.string().describe("The day, agent, model, session, project, thread or tool."),
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

export const ledgerQuery = z.strictObject({
  by: z.enum(GROUPINGS).default("day"),
  since: timestamp.optional(),
  time_zone: z
    .string()
    .refine(isTimeZone, "expected a time zone such as Europe/Berlin or UTC")
    .optional()
    .describe("For days: where they begin. Default: as in the settings, else UTC."),
});

export const ledger = z.object({
  by: z.enum(GROUPINGS),
  time_zone: z.string().describe("Where days begin, when the lines are days."),
  data: z.array(ledgerLine),
});
export type WireLedger = z.infer<typeof ledger>;

export const budgets = z.object({ settings: budgetSettings });

export function ledgerLineToWire(line: LedgerLine): WireLedgerLine {
  return {
    key: line.key,
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
