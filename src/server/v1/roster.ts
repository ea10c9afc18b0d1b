import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import { enrolled, type MultiagentParams, type Roster, wantedAgents } from "../../protocol/v1/multiagent.ts";
import { invalid } from "../../protocol/v1/refusal.ts";
import type { ServerDeps } from "../http/context.ts";

interface Team {
  /** Undefined: unchanged. */
  readonly subagents: AgentDefinition["subagents"] | undefined;
  readonly roster: Roster | undefined;
}

/** Looks up the agents that another agent may call, by id. Copies their current definitions. */
export async function enrol(
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
  return enrolled(given.type, found);
}
