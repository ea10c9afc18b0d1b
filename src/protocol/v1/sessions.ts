import { z } from "zod";
import { agentOverrides } from "./agents.ts";
import { metadataParams, metadataPatch } from "./fields.ts";
import { initialEvents } from "./message-input.ts";
import { createdBetween, flagParam, limitUpTo, repeatedParam, MAX_LIMIT, page, version } from "./queries.ts";
import { invalid, notSupported } from "./refusal.ts";
import { resourceParams } from "./resources.ts";

/** Sessions in requests of the Managed Agents API. */

const budgetParams = z.strictObject({
  type: z.literal("limit"),
  max_list_cost: z.strictObject({
    amount: z.string().regex(/^[1-9]\d{0,7}$/, 'expected whole cents without leading zeros: "2500" is 25 dollars'),
    currency: z.literal("USD"),
  }),
});

const title = z.string().max(512).nullish();

export const sessionCreate = z.strictObject({
  agent: z.union(
    [
      z.string(),
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("agent"), id: z.string(), version: z.number().int().min(1).optional() }),
        agentOverrides,
      ]),
    ],
    { error: "expected the id of an agent, or an object with its `type` and `id`" },
  ),
  environment_id: z.string(),
  budget: budgetParams.optional(),
  initial_events: initialEvents.optional(),
  metadata: metadataParams.optional(),
  resources: z.array(resourceParams).max(100).optional(),
  title,
  vault_ids: z.array(z.string()).optional(),
});
export type SessionCreate = z.infer<typeof sessionCreate>;

export const sessionUpdate = z.strictObject({
  agent: z.unknown().optional(),
  budget: budgetParams.nullish(),
  metadata: metadataPatch.nullish(),
  title,
  vault_ids: z.array(z.string()).optional(),
});
export type SessionUpdateV1 = z.infer<typeof sessionUpdate>;

export function usdOf(budget: z.infer<typeof budgetParams>): number {
  return Number(budget.max_list_cost.amount) / 100;
}

export function requireNoVaults(vaults: readonly string[] | undefined): void {
  if ((vaults ?? []).length > 0)
    throw notSupported("vaults", "Set the agent's environment variables through /api/environments.");
}

const STATUSES = ["rescheduling", "running", "idle", "terminated"] as const;

export const sessionList = z.strictObject({
  limit: limitUpTo(MAX_LIMIT),
  page,
  agent_id: z.string().optional(),
  agent_version: version,
  ...createdBetween,
  deployment_id: z.string().optional(),
  memory_store_id: z.string().optional(),
  include_archived: flagParam,
  order: z.enum(["asc", "desc"]).default("desc"),
  statuses: repeatedParam(z.enum(STATUSES)),
});

/** Rejects filters on unsupported features, which would otherwise look like an empty result. */
export function requireKnownFilters(query: z.infer<typeof sessionList>): void {
  if (query.deployment_id !== undefined) throw notSupported("deployments", "List sessions without deployment_id.");
  if (query.memory_store_id !== undefined)
    throw notSupported("memory stores", "List sessions without memory_store_id.");
  if (query.agent_version !== undefined && query.agent_id === undefined)
    throw invalid("agent_version works only together with agent_id. Add agent_id.");
}

export const threadList = z.strictObject({
  limit: limitUpTo(MAX_LIMIT),
  page,
  statuses: repeatedParam(z.enum(STATUSES)),
});
