import { NO_USD_LIMIT } from "../../core/money/budget-schema.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import type { ModelUsage } from "../../core/events/events.ts";
import type { SessionState } from "../../core/session/state.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { type AgentIdentity, sessionAgentToWireV1 } from "./agent-to-wire.ts";
import { cents, publicMetadata, time, timeOrNull } from "./fields.ts";
import { type Roster, rosterIn } from "./multiagent.ts";
import { resourceToWireV1 } from "./resources.ts";

/** Sessions in responses of the Managed Agents API. */

/**
 * The agent id of sessions not created from a saved agent, such as those of the command line. It cannot be retrieved.
 */
const LOCAL_AGENT = "agent_local";
const LOCAL_ENVIRONMENT = "env_local";

export interface WireSessionSource {
  readonly record: SessionRecord;
  readonly state: SessionState;
  /** The saved version it was created from; undefined if there is none. */
  readonly agent: AgentRecord | undefined;
  /** Milliseconds since the epoch: the last event, and the current time. */
  readonly updatedAt: number;
  readonly now: number;
}

export function sessionToWireV1({ record, state, agent, updatedAt, now }: WireSessionSource) {
  const isOver = record.archivedAt !== null || state.status === "terminated";
  const until = isOver ? updatedAt : now;
  return {
    type: "session" as const,
    id: record.id,
    title: record.title,
    status: state.status,
    agent: sessionAgentToWireV1(record.agent, agentIdentity(record, agent), rosterOf(record, agent)),
    environment_id: record.environmentId ?? LOCAL_ENVIRONMENT,
    budget: budgetToWireV1(limitOf(record, state)),
    metadata: publicMetadata(record.metadata),
    resources: record.resources.map(resourceToWireV1),
    usage: usageToWireV1(state.usage, state.usd),
    stats: { duration_seconds: seconds(until - record.createdAt) },
    outcome_evaluations: [],
    vault_ids: [],
    deployment_id: null,
    created_at: time(record.createdAt),
    updated_at: time(updatedAt),
    archived_at: timeOrNull(record.archivedAt),
  };
}

export function agentIdentity(record: SessionRecord, agent: AgentRecord | undefined): AgentIdentity {
  const { id, version } = record.agentRef ?? { id: LOCAL_AGENT, version: 0 };
  return { id, version, name: agent?.name ?? record.agent.name, description: agent?.description ?? null };
}

export function rosterOf(record: SessionRecord, agent: AgentRecord | undefined): Roster | undefined {
  return agent && rosterIn(agent.metadata, record.agent);
}

/** In USD; undefined if the session has no limit. */
function limitOf(record: SessionRecord, state: SessionState): number | undefined {
  const usd = state.budget?.usd ?? record.agent.budget.usd;
  return usd === NO_USD_LIMIT ? undefined : usd;
}

function budgetToWireV1(usd: number | undefined) {
  return usd === undefined ? null : { type: "limit" as const, max_list_cost: cents(usd) };
}

export function usageToWireV1(usage: ModelUsage, usd: number) {
  const oneHour = usage.cache_creation_1h_input_tokens ?? 0;
  return {
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_input_tokens: usage.cache_read_input_tokens,
    cache_creation: {
      ephemeral_5m_input_tokens: Math.max(0, usage.cache_creation_input_tokens - oneHour),
      ephemeral_1h_input_tokens: oneHour,
    },
    server_tool_use: { web_search_requests: usage.web_search_requests ?? 0, web_fetch_requests: 0 },
    list_cost: cents(usd),
  };
}

export function seconds(ms: number): number {
  return Math.max(0, ms) / 1_000;
}
