import { Hono } from "hono";
import type { SessionRecord, SessionSummary } from "../../core/ports/store.ts";
import { readCursor, writeCursor } from "../../protocol/cursor.ts";
import { patchMetadata } from "../../protocol/v1/fields.ts";
import { createdRange } from "../../protocol/v1/queries.ts";
import { notSupported } from "../../protocol/v1/refusal.ts";
import {
  requireKnownFilters,
  requireNoVaults,
  sessionList,
  type SessionUpdateV1,
  sessionUpdate,
  usdOf,
} from "../../protocol/v1/sessions.ts";
import type { SessionUpdate as Change } from "../../runtime/session-options.ts";
import { readBody } from "../body/read.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import { ApiFailure } from "../http/failure.ts";
import { storedAgentOf, findSession } from "../http/lookup.ts";
import { archiveSession, deleteSession } from "../files/archive-session.ts";
import type { V1Deps } from "./deps.ts";
import { param, readQuery, requireMetadata, requireNoQuery } from "./request.ts";
import { createSession, requireWithin } from "./session-create.ts";
import { sessionToWireV1 } from "../../protocol/v1/session-to-wire.ts";

export function sessionRoutes(deps: V1Deps): Hono<Env> {
  const { runtime } = deps;
  const routes = new Hono<Env>();

  routes.post("/sessions", async (c) => c.json(await readWireSessionV1(deps, await createSession(deps, c))));

  routes.get("/sessions", async (c) => {
    const { project } = requireRole(c, "viewer");
    const query = readQuery(c, sessionList);
    requireKnownFilters(query);
    const { items, ...pages } = await sessionPage(deps, project, query);
    const data = [];
    for (const summary of items) data.push(await readWireSessionV1(deps, summary, summary));
    return c.json({ data, ...pages });
  });

  routes.get("/sessions/:session", async (c) => {
    const { project } = requireRole(c, "viewer");
    requireNoQuery(c);
    return c.json(await readWireSessionV1(deps, await findSession(deps, project, param(c, "session"))));
  });

  routes.post("/sessions/:session", async (c) => {
    const { project } = requireRole(c, "operator");
    const body = await readBody(c, sessionUpdate);
    const record = await findSession(deps, project, param(c, "session"));
    requireNoVaults(body.vault_ids);
    if (body.agent != null)
      throw notSupported("changing a session's agent", "Start a new session with agent_with_overrides.");
    const patch = body.metadata ?? {};
    requireMetadata(patch, patchMetadata(record.metadata, patch));
    const limit = await agentLimit(record);
    if (body.budget != null) {
      await requireRaised(usdOf(body.budget), record.id);
      requireWithin(usdOf(body.budget), limit);
    }
    return c.json(await readWireSessionV1(deps, await runtime.update(record.id, changeOf(body, limit))));
  });

  routes.post("/sessions/:session/archive", async (c) => {
    const { project } = requireRole(c, "operator");
    requireNoQuery(c);
    const record = await findSession(deps, project, param(c, "session"));
    return c.json(await readWireSessionV1(deps, await archiveSession(deps, record)));
  });

  routes.delete("/sessions/:session", async (c) => {
    const { project } = requireRole(c, "operator");
    requireNoQuery(c);
    const record = await findSession(deps, project, param(c, "session"));
    await deleteSession(deps, record);
    return c.json({ type: "session_deleted", id: record.id });
  });

  /** The agent's own limit, whatever the session's is. An inline agent has its limit in the session. */
  async function agentLimit(record: SessionRecord): Promise<number | undefined> {
    const { definition } = (await storedAgentOf(deps, record)) ?? { definition: record.agent };
    return definition.budget.usd;
  }

  /** Rejects a limit below what was already spent. */
  async function requireRaised(usd: number, sessionId: string): Promise<void> {
    const { usd: spent } = await runtime.state(sessionId);
    if (usd > spent) return;
    throw new ApiFailure(
      "invalid_request_error",
      `budget: the session has spent $${spent.toFixed(4)}, which reaches the limit of $${usd.toFixed(2)}. Set a higher limit, or null for none.`,
      { details: { error_code: "budget_not_raised" } },
    );
  }

  return routes;
}

/** A session without a limit has its agent's. */
function changeOf({ title, metadata, budget }: SessionUpdateV1, limit: number | undefined): Change {
  return {
    ...(title !== undefined && { title }),
    ...(metadata != null && { metadata }),
    ...(budget !== undefined && { maxUsd: budget === null ? (limit ?? null) : usdOf(budget) }),
  };
}

type ListQuery = ReturnType<typeof sessionList.parse>;

/** A page after or before a session, in the order of the list. */
async function sessionPage({ runtime }: ServerDeps, project: string, query: ListQuery) {
  const { limit, order, statuses, agent_id: agentId, agent_version: agentVersion } = query;
  const list = `sessions ${order}`;
  const cursor = readCursor(list, query.page);
  const isBack = cursor?.back === true;
  const found = await runtime.sessions({
    project,
    limit: limit + 1,
    order: isBack ? opposite(order) : order,
    includeArchived: query.include_archived,
    ...createdRange(query),
    ...(statuses !== undefined && { statuses }),
    ...(agentId !== undefined && { agentId }),
    ...(agentVersion !== undefined && { agentVersion }),
    ...(cursor !== undefined && { after: cursor.at }),
  });
  const shown = found.slice(0, limit);
  const items: readonly SessionSummary[] = isBack ? shown.toReversed() : shown;
  const hasMore = found.length > limit;
  const [first, last] = [items[0]?.id, items.at(-1)?.id];
  const next = last !== undefined && (isBack || hasMore) ? writeCursor(list, { at: last }) : null;
  const hasEarlier = isBack ? hasMore : cursor !== undefined;
  const previous = first !== undefined && hasEarlier ? writeCursor(list, { at: first, back: true }) : null;
  return { items, next_page: next, prev_page: previous };
}

function opposite(order: "asc" | "desc"): "asc" | "desc" {
  return order === "asc" ? "desc" : "asc";
}

type Deps = Pick<ServerDeps, "runtime" | "registry" | "clock">;

/** `found`: what a list already knows about the session. */
async function readWireSessionV1(deps: Deps, record: SessionRecord, found?: SessionSummary) {
  const summary = found ?? (await deps.runtime.summary(record.id));
  return sessionToWireV1({
    record,
    state: await deps.runtime.state(record.id),
    agent: await storedAgentOf(deps, record),
    updatedAt: summary?.lastActivityAt ?? record.createdAt,
    now: deps.clock.now(),
  });
}
