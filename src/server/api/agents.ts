import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { CapstanError } from "../../core/errors.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import { dataList } from "../../protocol/api/common.ts";
import { agentToWire, agentVersion, pageQuery, versionQuery, type WireAgent } from "../../protocol/api/registry.ts";
import { findAgent } from "../http/lookup.ts";
import {
  agentComponent,
  agentCheckComponent,
  agentInputComponent,
  agentUpdateComponent,
} from "./document/components.ts";
import { type ApiDeps, requirePort } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";
import { agentWithSecrets, withoutAgentSecrets } from "./secrets.ts";

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
      body: agentInputComponent,
      answer: agentComponent,
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
      return safeAgentToWire(record);
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
      answer: dataList(agentComponent),
    },
    async ({ caller, query: { limit, after, include_archived: includeArchived = false } }) => ({
      data: (await agents.list(caller.project, { limit, includeArchived, ...(after !== undefined && { after }) })).map(
        safeAgentToWire,
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
      answer: agentComponent,
    },
    async ({ caller, params: { id }, query: { version } }) =>
      safeAgentToWire(await findAgent(deps, caller.project, id, version)),
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
      answer: dataList(agentComponent),
    },
    async ({ caller, params: { id }, query: { limit, before } }) => {
      await findAgent(deps, caller.project, id);
      const found = await agents.versions(caller.project, id, { limit, ...(before !== undefined && { before }) });
      return { data: found.map(safeAgentToWire) };
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
      answer: agentCheckComponent,
    },
    async ({ caller, params: { id }, query: { version }, signal }) => {
      const { definition, ...found } = await findAgent(deps, caller.project, id, version);
      const check = requirePort(deps.checkAgent, "agent checks");
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
      body: agentUpdateComponent,
      answer: agentComponent,
    },
    async ({ caller, params: { id }, body }) => {
      const newest = await findAgent(deps, caller.project, id);
      if (body.version !== undefined && body.version !== newest.version)
        throw new CapstanError(
          "store_conflict",
          `version: the agent ${id} is now at version ${newest.version}, not ${body.version}. Get it, apply your change to that version, and send it again.`,
        );
      requireUsableAgent(newest);
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
      return safeAgentToWire(record);
    },
  );
}

function safeAgentToWire(record: AgentRecord): WireAgent {
  return agentToWire({ ...record, definition: withoutAgentSecrets(record.definition) });
}

export function requireUsableAgent({ id, archivedAt }: Pick<AgentRecord, "id" | "archivedAt">): void {
  if (archivedAt !== null)
    throw new CapstanError("invalid_input", `The agent ${id} is archived and read-only. Create another one.`);
}

/** Reports rules for unknown tools on save, rather than when the first session is started. */
function requireKnownRules({ policy }: ApiDeps, definition: AgentDefinition): void {
  // Tools of MCP servers and clients are known only in a session.
  policy?.requireKnownTools({ agent: definition, tools: [] });
}
