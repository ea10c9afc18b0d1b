import { Hono } from "hono";
import {
  agentCreate,
  agentList,
  agentRetrieve,
  type AgentUpdateV1,
  agentUpdateV1,
  changedDefinition,
  newDefinition,
  versionList,
} from "../../protocol/v1/agents.ts";
import { agentToWireV1 } from "../../protocol/v1/agent-to-wire.ts";
import { patchMetadata } from "../../protocol/v1/fields.ts";
import {
  rosterIn,
  withRoster,
  enroll,
  type MultiagentParams,
  type Roster,
  wantedAgents,
} from "../../protocol/v1/multiagent.ts";
import { createdRange } from "../../protocol/v1/queries.ts";
import { invalid } from "../../protocol/v1/refusal.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import { readBody } from "../body/read.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import { ApiFailure } from "../http/failure.ts";
import { findAgent, notFound } from "../http/lookup.ts";
import { readListPage, param, readQuery, requireMetadata, requireNoQuery } from "./request.ts";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";

export function agentRoutes(deps: ServerDeps): Hono<Env> {
  const { registry, ids, clock } = deps;
  const { agents } = registry;
  const routes = new Hono<Env>();

  routes.post("/agents", async (c) => {
    const { project } = requireRole(c, "admin");
    const body = await readBody(c, agentCreate);
    const metadata = body.metadata ?? {};
    requireMetadata(metadata, metadata);
    const team = body.multiagent == null ? undefined : await enrol(deps, project, body.multiagent, undefined);
    const now = clock.now();
    const record: AgentRecord = {
      id: ids.next("agent"),
      version: 1,
      project,
      name: body.name,
      description: descriptionOrNull(body.description),
      metadata: withRoster(metadata, team?.roster),
      definition: newDefinition({ ...body, subagents: team?.subagents }),
      createdAt: now,
      updatedAt: now,
      archivedAt: null,
    };
    await agents.create(record);
    return c.json(agentToWireV1(record));
  });

  routes.get("/agents", async (c) => {
    const { project } = requireRole(c, "viewer");
    const query = readQuery(c, agentList);
    const { items, next_page } = await readListPage("agents", query, {
      read: (page) =>
        agents.list(project, { ...page, ...createdRange(query), includeArchived: query.include_archived }),
      at: ({ id }) => id,
    });
    return c.json({ data: items.map(agentToWireV1), next_page });
  });

  routes.get("/agents/:agent", async (c) => {
    const { project } = requireRole(c, "viewer");
    const { version } = readQuery(c, agentRetrieve);
    return c.json(agentToWireV1(await findAgent(deps, project, param(c, "agent"), version)));
  });

  routes.get("/agents/:agent/versions", async (c) => {
    const { project } = requireRole(c, "viewer");
    const query = readQuery(c, versionList);
    const { id } = await findAgent(deps, project, param(c, "agent"));
    const { items, next_page } = await readListPage(`versions of ${id}`, query, {
      read: ({ limit, after }) =>
        agents.versions(project, id, { limit, ...(after !== undefined && { before: Number(after) }) }),
      at: ({ version }) => String(version),
    });
    return c.json({ data: items.map(agentToWireV1), next_page });
  });

  routes.post("/agents/:agent", async (c) => {
    const { project } = requireRole(c, "admin");
    const { version, ...body } = await readBody(c, agentUpdateV1);
    const stored = await findAgent(deps, project, param(c, "agent"));
    if (stored.archivedAt !== null)
      throw invalid(`The agent ${stored.id} is archived and read-only. Create a new one.`);
    if (version !== undefined && version !== stored.version)
      throw new ApiFailure(
        "conflict_error",
        `The agent ${stored.id} is at version ${stored.version}, not ${version}. Retrieve it and apply the change to that version.`,
        { details: { error_code: "version_conflict", version: stored.version } },
      );
    const next = await applyUpdate(deps, stored, body);
    if (!isChanged(stored, next)) return c.json(agentToWireV1(stored));
    await agents.update(next);
    return c.json(agentToWireV1(next));
  });

  routes.post("/agents/:agent/archive", async (c) => {
    const { project } = requireRole(c, "admin");
    requireNoQuery(c);
    const id = param(c, "agent");
    const archived = await agents.archive(project, id, clock.now());
    if (archived === undefined) throw notFound("agent", id);
    return c.json(agentToWireV1(archived));
  });

  return routes;
}

async function applyUpdate(
  deps: ServerDeps,
  stored: AgentRecord,
  body: Omit<AgentUpdateV1, "version">,
): Promise<AgentRecord> {
  const patch = body.metadata ?? {};
  const metadata = patchMetadata(stored.metadata, patch);
  requireMetadata(patch, metadata);
  const roster = rosterIn(stored.metadata, stored.definition);
  const { multiagent } = body;
  const team =
    multiagent === null
      ? { subagents: {}, roster: undefined }
      : multiagent && (await enrol(deps, stored.project, multiagent, roster));
  return {
    ...stored,
    version: stored.version + 1,
    name: body.name ?? stored.name,
    description: body.description === undefined ? stored.description : descriptionOrNull(body.description),
    metadata: team === undefined ? metadata : withRoster(metadata, team.roster),
    definition: changedDefinition(stored.definition, { ...body, subagents: team?.subagents }),
    updatedAt: deps.clock.now(),
  };
}

function isChanged(stored: AgentRecord, next: AgentRecord): boolean {
  return JSON.stringify(facts(stored)) !== JSON.stringify(facts(next));
}

/** The content of a version. The order of the metadata does not matter. */
function facts({ name, description, metadata, definition }: AgentRecord): unknown {
  const entries = Object.entries(metadata).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [name, description, entries, definition];
}

function descriptionOrNull(text: string | null | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}

interface Team {
  /** Undefined: unchanged. */
  readonly subagents: AgentDefinition["subagents"] | undefined;
  readonly roster: Roster | undefined;
}

/** Looks up the agents that another agent may call, by id. Copies their current definitions. */
async function enrol(
  { registry }: Pick<ServerDeps, "registry">,
  project: string,
  given: MultiagentParams,
  stored: Roster | undefined,
): Promise<Team> {
  const wanted = wantedAgents(given, stored);
  if (wanted === undefined) return { subagents: undefined, roster: stored };
  const found: AgentRecord[] = [];
  for (const { id, version } of wanted) {
    const agent = await registry.agents.get(project, id, version);
    if (agent === undefined)
      throw invalid(
        `multiagent: agent ${JSON.stringify(id)}${version === undefined ? "" : ` with version ${version}`} was not found. List the agents to find its id.`,
      );
    found.push(agent);
  }
  return enroll(given.type, found);
}
