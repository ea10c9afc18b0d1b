import { z } from "zod";
import { agentDefinition } from "../../core/agent/agent-definition.ts";
import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import { environmentDefinition } from "../../core/environment/environment.ts";
import type { SessionResource, SessionSummary } from "../../core/ports/store.ts";
import { isoTime, isoTimeOrNull, metadata, msOf, msOrNull, queryFlag, queryNumber, timestamp } from "./common.ts";

export const STATUSES = ["idle", "running", "rescheduling", "terminated"] as const;

const resource = z.object({
  id: z.string(),
  type: z.enum(["file", "repository"]),
  mount_path: z.string().describe("Its path, relative to the workspace."),
  created_at: timestamp,
  file_id: z.string().optional(),
  url: z.string().optional(),
  checkout: z
    .union([
      z.object({ type: z.literal("branch"), name: z.string() }),
      z.object({ type: z.literal("commit"), sha: z.string() }),
    ])
    .nullish(),
});

/** A session as shown in lists. Without secret values of variables. */
export const session = z.object({
  id: z.string(),
  project: z.string(),
  status: z.enum(STATUSES),
  title: z.string().nullable(),
  first_message: z.string().describe("The beginning of the first message; empty until there is one."),
  agent: agentDefinition,
  engine: z.string().describe("The engine of its next turn: `claude` or `direct`."),
  agent_ref: z
    .object({ id: z.string(), version: z.number() })
    .nullable()
    .describe("The saved agent it was created from; null for an inline definition."),
  environment: environmentDefinition,
  environment_id: z.string().nullable(),
  cwd: z.string().describe("Where the agent works, on the server's machine."),
  source: z.string().describe("The directory that its workspace was created from."),
  metadata,
  resources: z.array(resource),
  forked_from: z.object({ session_id: z.string(), seq: z.number() }).nullable(),
  created_at: timestamp,
  last_activity_at: timestamp,
  last_spoken_at: timestamp.describe("When it last received a message; before that, when it was created."),
  archived_at: timestamp.nullable(),
  turns: z.number(),
  usd: z.number().describe("List price of the requests that have one, whoever pays."),
  included_usd: z.number().optional().describe("The part of `usd` that a subscription covers."),
  rehearsal_usd: z.number().optional().describe("The part of `usd` that the scripted model would have cost."),
  unpriced_requests: z.number().optional(),
  waiting: z.number().describe("Approvals waiting for an answer."),
});
export type WireSession = z.infer<typeof session>;

export const sessionQuery = z.strictObject({
  search: z
    .string()
    .optional()
    .describe("Text in the title, the first message, the working directory or the agent's name."),
  named: z.string().min(4).optional().describe("An id, or the beginning or end of one."),
  status: z.enum(STATUSES).optional(),
  agent: z.string().optional().describe("The agent's name."),
  waiting: queryFlag.optional().describe("true: only sessions with a pending approval."),
  include_archived: queryFlag.optional().describe("Default: true."),
  limit: queryNumber({ min: 1, max: 1_000 }).default(20),
});

export function sessionToWire(given: SessionSummary, waiting: number): WireSession {
  const { includedUsd, rehearsalUsd, unpricedRequests, forkedFrom } = given;
  return {
    id: given.id,
    project: given.project,
    status: given.status,
    title: given.title,
    first_message: given.firstMessage,
    agent: given.agent,
    engine: given.agent.engine ?? DEFAULT_ENGINE,
    agent_ref: given.agentRef,
    environment: given.environment,
    environment_id: given.environmentId,
    cwd: given.cwd,
    source: given.source,
    metadata: given.metadata,
    resources: given.resources.map(resourceToWire),
    forked_from: forkedFrom && { session_id: forkedFrom.sessionId, seq: forkedFrom.seq },
    created_at: isoTime(given.createdAt),
    last_activity_at: isoTime(given.lastActivityAt),
    last_spoken_at: isoTime(given.lastSpokenAt),
    archived_at: isoTimeOrNull(given.archivedAt),
    turns: given.turns,
    usd: given.usd,
    ...(includedUsd !== undefined && { included_usd: includedUsd }),
    ...(rehearsalUsd !== undefined && { rehearsal_usd: rehearsalUsd }),
    ...(unpricedRequests !== undefined && { unpriced_requests: unpricedRequests }),
    waiting,
  };
}

export function sessionFromWire(given: WireSession): SessionSummary {
  const { included_usd, rehearsal_usd, unpriced_requests, forked_from } = given;
  return {
    id: given.id,
    createdAt: msOf(given.created_at),
    project: given.project,
    agent: given.agent,
    environment: given.environment,
    cwd: given.cwd,
    source: given.source,
    title: given.title,
    metadata: given.metadata,
    agentRef: given.agent_ref,
    environmentId: given.environment_id,
    resources: given.resources.map(resourceFromWire),
    archivedAt: msOrNull(given.archived_at),
    // Only the host that drives the session needs it.
    ownProgram: false,
    forkedFrom: forked_from && { sessionId: forked_from.session_id, seq: forked_from.seq },
    status: given.status,
    lastActivityAt: msOf(given.last_activity_at),
    lastSpokenAt: msOf(given.last_spoken_at),
    turns: given.turns,
    usd: given.usd,
    ...(included_usd !== undefined && { includedUsd: included_usd }),
    ...(rehearsal_usd !== undefined && { rehearsalUsd: rehearsal_usd }),
    ...(unpriced_requests !== undefined && { unpricedRequests: unpriced_requests }),
    firstMessage: given.first_message,
  };
}

function resourceToWire(given: SessionResource): WireSession["resources"][number] {
  const { id, mountPath, createdAt } = given;
  const common = { id, mount_path: mountPath, created_at: isoTime(createdAt) };
  return given.type === "file"
    ? { ...common, type: "file", file_id: given.fileId }
    : { ...common, type: "repository", url: given.url, checkout: given.checkout };
}

function resourceFromWire(given: WireSession["resources"][number]): SessionResource {
  const { id, mount_path, created_at, file_id = "", url = "", checkout = null } = given;
  const common = { id, mountPath: mount_path, createdAt: msOf(created_at) };
  return given.type === "file"
    ? { ...common, type: "file", fileId: file_id }
    : { ...common, type: "repository", url, checkout };
}
