import { z } from "zod";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { AgentRecord, Metadata } from "../../core/ports/registry.ts";
import { invalid, notSupported } from "./refusal.ts";
import { freeSlug } from "../slug.ts";

/** Agents that an agent may call, in requests of the Managed Agents API: references to other agents. */

const MAX_AGENTS = 20;

const reference = z.union(
  [
    z.string(),
    z.strictObject({ type: z.literal("agent"), id: z.string(), version: z.number().int().min(1).optional() }),
    z.strictObject({ type: z.literal("self") }),
    z.strictObject({ type: z.literal("advisor"), model: z.string() }),
  ],
  { error: "expected the id of an agent, or an object with its `type` and `id`" },
);
type Reference = z.infer<typeof reference>;

const switched = z.object({ type: z.enum(["enabled", "disabled"]) });

export const multiagentParams = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("coordinator"), agents: z.array(reference).min(1).max(MAX_AGENTS) }),
  z.strictObject({
    type: z.literal("multiagent_20261001"),
    advisor: switched.nullish(),
    workflows: switched.nullish(),
    subagents: z
      .discriminatedUnion("type", [
        z.strictObject({ type: z.literal("disabled") }),
        z.strictObject({
          type: z.literal("enabled"),
          inline_agents: switched.nullish(),
          predefined_agents: z.array(reference).max(MAX_AGENTS).nullish(),
        }),
      ])
      .nullish(),
  }),
]);
export type MultiagentParams = z.infer<typeof multiagentParams>;

/** An agent that another may call. */
const member = z.object({ id: z.string(), version: z.number().int(), name: z.string() });
const roster = z.object({
  type: z.enum(["coordinator", "multiagent_20261001"]),
  /** By the subagent's name in the definition. */
  members: z.record(z.string(), member),
});
/** The agents that a definition's subagents were created from. */
export type Roster = z.infer<typeof roster>;
export type Member = z.infer<typeof member>;

export interface WantedAgent {
  readonly id: string;
  readonly version: number | undefined;
}

/**
 * The agents that a request names. Undefined: unchanged. `stored` are the current ones, because a request of the newer
 * type is merged into them.
 */
export function wantedAgents(given: MultiagentParams, stored: Roster | undefined): readonly WantedAgent[] | undefined {
  if (given.type === "coordinator") return agentReferences(given.agents);
  const isMerged = stored?.type === given.type;
  requireOff("advisor", given.advisor, "disabled");
  // Omitted features are on by default, unless the request is merged into existing values.
  requireOff("workflows", given.workflows, isMerged && given.workflows === undefined ? "disabled" : "enabled");
  const { subagents } = given;
  if (subagents === undefined && isMerged) return undefined;
  if (subagents?.type === "disabled") return [];
  const isKept = isMerged && subagents?.inline_agents === undefined && Object.keys(stored.members).length > 0;
  requireOff("inline agents", subagents?.inline_agents, isKept ? "disabled" : "enabled");
  if (subagents?.predefined_agents === undefined && isMerged) return undefined;
  const agents = agentReferences(subagents?.predefined_agents ?? []);
  if (agents.length === 0) throw invalid("multiagent.subagents.predefined_agents: name at least one agent.");
  return agents;
}

function requireOff(
  what: string,
  given: { readonly type: "enabled" | "disabled" } | null | undefined,
  otherwise: "enabled" | "disabled",
): void {
  if ((given?.type ?? otherwise) === "enabled")
    throw notSupported(`${what} in multiagent`, 'Turn it off with {"type": "disabled"}.');
}

function agentReferences(references: readonly Reference[]): readonly WantedAgent[] {
  const agents = references.map((entry): WantedAgent => {
    if (typeof entry === "string") return { id: entry, version: undefined };
    if (entry.type === "agent") return { id: entry.id, version: entry.version };
    throw notSupported(`${entry.type} in multiagent`, "Refer to other agents by id.");
  });
  const twice = agents.find(({ id }, index) => agents.findIndex((other) => other.id === id) < index);
  if (twice !== undefined) throw invalid(`multiagent: ${twice.id} is named twice. Remove one.`);
  return agents;
}

/** Subagents created from saved agents, and the roster that records their origin. */
export function enroll(
  type: Roster["type"],
  agents: readonly AgentRecord[],
): { readonly subagents: AgentDefinition["subagents"]; readonly roster: Roster } {
  const subagents: AgentDefinition["subagents"] = {};
  const members: Record<string, Member> = {};
  for (const agent of agents) {
    requireCallable(agent);
    const { instructions, tools, model } = agent.definition;
    const slug = freeSlug(agent.name, Object.keys(subagents));
    subagents[slug] = {
      description: agent.description ?? agent.name,
      instructions: instructions === "" ? `You are ${agent.name}.` : instructions,
      tools,
      model,
    };
    members[slug] = { id: agent.id, version: agent.version, name: agent.name };
  }
  return { subagents, roster: { type, members } };
}

/** The calling agent's rules decide about a subagent's calls, so restrictive rules of its own would be lost. */
function requireCallable({ id, archivedAt, definition }: AgentRecord): void {
  const { subagents, custom_tools: custom = [], mcp_servers: servers = {}, permissions } = definition;
  const lost = [
    ...(archivedAt === null ? [] : ["it is archived"]),
    ...(Object.keys(subagents).length === 0 ? [] : ["it calls agents itself"]),
    ...(custom.length === 0 ? [] : ["it has custom tools"]),
    ...(Object.keys(servers).length === 0 ? [] : ["it has MCP servers"]),
    ...(permissions.ask.length + permissions.deny.length === 0
      ? []
      : ["it has rules that ask or deny (permission_policy, blocked_domains), but the calling agent's rules apply"]),
    ...(permissions.mode === "normal" ? [] : [`it has the mode ${permissions.mode}`]),
  ];
  if (lost.length > 0) throw invalid(`multiagent: ${id} cannot be called by another agent: ${lost.join("; ")}.`);
}

/** The roster is saved next to the client's metadata. */
const ROSTER_KEY = "capstan.multiagent";

export function withRoster({ [ROSTER_KEY]: _before, ...metadata }: Metadata, wanted: Roster | undefined): Metadata {
  return wanted === undefined ? metadata : { ...metadata, [ROSTER_KEY]: JSON.stringify(wanted) };
}

/** Undefined if the agent was created without one, or has other subagents now. */
export function rosterIn({ [ROSTER_KEY]: text }: Metadata, { subagents }: AgentDefinition): Roster | undefined {
  const read = roster.safeParse(parseJson(text));
  if (!read.success) return undefined;
  const members = Object.fromEntries(
    Object.entries(read.data.members).filter(([slug]) => Object.hasOwn(subagents, slug)),
  );
  return { ...read.data, members };
}

function parseJson(text = "null"): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
