import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import { listOf } from "../../protocol/api/common.ts";
import { agentToWire, agentVersion, pageQuery, versionQuery, type WireAgent } from "../../protocol/api/registry.ts";
import { findAgent } from "../http/lookup.ts";
import { agent, agentCheck, agentInput, agentUpdate } from "./document/components.ts";
import { type ApiDeps, offered } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";
import { agentWithSecrets, shownAgent } from "./secrets.ts";

const tag = "Agents";

/** The same records as the agents of `/v1`, with everything an agent file can contain. */
export function addAgents(api: Api, deps: ApiDeps): void {
  const { agents } = deps.registry;

  endpoint(
    api,
    {
      method: "post",
      path: "/api/agents",
      role: "admin",
      tag,
      summary: "Create an agent",
      description:
        "Takes a definition like that of an agent file: rules, modes, MCP servers, output schema, hooks. Hooks, functions and MCP servers are programs that run on the server's machine and may receive its variables.",
      body: agentInput,
      answer: agent,
      status: 201,
    },
    async ({ caller, body }) => {
      const { definition, name = definition.name, description = definition.description ?? null, metadata = {} } = body;
      requireKnownRules(deps, definition);
      const now = deps.clock.now();
      const record: AgentRecord = {
        id: deps.ids.next("agent"),
        version: 1,
        project: caller.project,
        name,
        description,
        metadata,
        definition: agentWithSecrets(definition),
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      };
      await agents.create(record);
      return shown(record);
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/agents",
      role: "viewer",
      tag,
      summary: "List agents",
      description: "Returns the newest version of each agent, newest agent first.",
      query: pageQuery,
      answer: listOf(agent),
    },
    async ({ caller, query: { limit, after, include_archived: includeArchived = false } }) => ({
      data: (await agents.list(caller.project, { limit, includeArchived, ...(after !== undefined && { after }) })).map(
        shown,
      ),
    }),
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/agents/{id}",
      role: "viewer",
      tag,
      summary: "Get an agent",
      query: agentVersion,
      answer: agent,
    },
    async ({ caller, params: { id }, query: { version } }) => shown(await findAgent(deps, caller.project, id, version)),
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/agents/{id}/versions",
      role: "viewer",
      tag,
      summary: "List an agent's versions",
      description: "Newest first. `before` starts a page below a version.",
      query: versionQuery,
      answer: listOf(agent),
    },
    async ({ caller, params: { id }, query: { limit, before } }) => {
      await findAgent(deps, caller.project, id);
      const found = await agents.versions(caller.project, id, { limit, ...(before !== undefined && { before }) });
      return { data: found.map(shown) };
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/agents/{id}/check",
      role: "operator",
      tag,
      summary: "Check an agent",
      description:
        "Reports why this server would refuse a session of the agent, and connects to each of its MCP servers to list their tools. Programs are started in an empty directory, in the sandbox of the project's default environment, and stopped again. Sends no model requests.",
      query: agentVersion,
      answer: agentCheck,
    },
    async ({ caller, params: { id }, query: { version }, signal }) => {
      const { definition, ...found } = await findAgent(deps, caller.project, id, version);
      const check = offered(deps.checkAgent, "agent checks");
      const findings = await check(definition, { project: caller.project, signal });
      const { problems, mcp_servers: servers } = findings;
      const isValid = problems.length === 0 && servers.every(({ connected, error }) => connected && error === null);
      return { agent_id: id, version: found.version, valid: isValid, ...findings };
    },
  );

  endpoint(
    api,
    {
      method: "put",
      path: "/api/agents/{id}",
      role: "admin",
      tag,
      summary: "Save a new version of an agent",
      description: "Sessions that have started keep their version.",
      body: agentUpdate,
      answer: agent,
    },
    async ({ caller, params: { id }, body }) => {
      const newest = await findAgent(deps, caller.project, id);
      if (body.version !== undefined && body.version !== newest.version)
        throw new CapstanError(
          "store_conflict",
          `version: the agent ${id} is now at version ${newest.version}, not ${body.version}. Get it, apply your change to that version, and send it again.`,
        );
      requireUsable(newest);
      requireKnownRules(deps, body.definition);
      const record: AgentRecord = {
        ...newest,
        version: newest.version + 1,
        name: body.name ?? newest.name,
        description: body.description === undefined ? newest.description : body.description,
        metadata: body.metadata ?? newest.metadata,
        definition: agentWithSecrets(body.definition, newest.definition),
        updatedAt: deps.clock.now(),
      };
      await agents.update(record);
      return shown(record);
    },
  );
}

function shown(record: AgentRecord): WireAgent {
  return agentToWire({ ...record, definition: shownAgent(record.definition) });
}

export function requireUsable({ id, archivedAt }: Pick<AgentRecord, "id" | "archivedAt">): void {
  if (archivedAt !== null)
    throw new CapstanError("invalid_input", `The agent ${id} is archived and read-only. Create another one.`);
}

/** Reports rules for unknown tools on save, rather than when the first session is started. */
function requireKnownRules({ policy }: ApiDeps, definition: AgentDefinition): void {
  // Tools of MCP servers and clients are known only in a session.
  policy?.requireKnownTools({ agent: definition, tools: [] });
}
