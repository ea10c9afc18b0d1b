import { z } from "zod";
import { type AgentDefinition, EFFORTS, parseAgent } from "../../core/agent/agent-definition.ts";
import { QUESTION_TOOL } from "../../core/rules/tool-names.ts";
import { NO_MCP_URLS, TOOLSET_NAMES, TOOLSET, toolParams, type ToolParams, wantedTools } from "./agent-tools.ts";
import { metadataParams, metadataPatch } from "./fields.ts";
import { mcpServersToWireV1, mcpToolsetsToWireV1 } from "./mcp-to-wire.ts";
import { multiagentParams } from "./multiagent.ts";
import { createdWithin, flagParam, limitUpTo, MAX_LIMIT, page, version } from "./queries.ts";
import { notSupported } from "./refusal.ts";
import { slugOf } from "../slug.ts";
import { requireEffective, rulesFor, withoutToolset } from "../tool-rules.ts";

/** Agents in requests of the Managed Agents API, and their conversion to definitions. */

const effort = z.enum(EFFORTS);

const modelParams = z.union(
  [
    z.string().min(1),
    z.strictObject({
      id: z.string().min(1),
      effort: z.union([effort, z.strictObject({ type: effort })]).nullish(),
      inference_geo: z.string().nullish(),
      speed: z.enum(["standard", "fast"]).nullish(),
    }),
  ],
  { error: 'expected the id of a model, such as "claude-opus-4-8", or an object with its `id`' },
);
type ModelParams = z.infer<typeof modelParams>;

const name = z.string().min(1).max(256);
const description = z.string().max(2_048);
const system = z.string().max(100_000);
/** Only an empty list is supported, so the items are not validated. */
const unlooked = z.array(z.unknown());

export const agentCreate = z.strictObject({
  name,
  model: modelParams,
  description: description.nullish(),
  execution_identity: z.object({ type: z.string() }).nullish(),
  mcp_servers: unlooked.optional(),
  metadata: metadataParams.optional(),
  multiagent: multiagentParams.nullish(),
  skills: unlooked.optional(),
  system: system.nullish(),
  tools: toolParams.optional(),
});

export const agentUpdateV1 = z.strictObject({
  name: name.optional(),
  model: modelParams.optional(),
  description: description.nullish(),
  execution_identity: z.object({ type: z.string() }).nullish(),
  mcp_servers: unlooked.nullish(),
  metadata: metadataPatch.nullish(),
  multiagent: multiagentParams.nullish(),
  skills: unlooked.nullish(),
  system: system.nullish(),
  tools: toolParams.nullish(),
  version: z.number().int().min(1).optional(),
});

export type AgentUpdateV1 = z.infer<typeof agentUpdateV1>;

/** Overrides for one session. */
export const agentOverrides = z.strictObject({
  type: z.literal("agent_with_overrides"),
  id: z.string(),
  version: z.number().int().min(1).optional(),
  mcp_servers: unlooked.optional(),
  model: modelParams.optional(),
  skills: unlooked.optional(),
  system: system.nullish(),
  tools: toolParams.optional(),
});

export const agentRetrieve = z.strictObject({ version });
export const versionList = z.strictObject({ limit: limitUpTo(MAX_LIMIT), page });
export const agentList = z.strictObject({
  limit: limitUpTo(MAX_LIMIT),
  page,
  include_archived: flagParam,
  ...createdWithin,
});

/** A request's changes to an agent's definition; omitted fields stay. */
export interface DefinitionChange {
  readonly name?: string | undefined;
  readonly model?: ModelParams | undefined;
  readonly system?: string | null | undefined;
  readonly tools?: ToolParams | null | undefined;
  readonly subagents?: AgentDefinition["subagents"] | undefined;
  readonly mcp_servers?: readonly unknown[] | null | undefined;
  readonly skills?: readonly unknown[] | null | undefined;
  readonly execution_identity?: { readonly type: string } | null | undefined;
}

export function newDefinition(change: DefinitionChange & { readonly name: string; readonly model: ModelParams }) {
  return changedDefinition(parseAgent({ name: slugOf(change.name), ...modelOf(change.model) }), change);
}

export function changedDefinition(stored: AgentDefinition, change: DefinitionChange): AgentDefinition {
  requireSupported(stored, change);
  const { name: wantedName, model, system: wantedSystem, tools, subagents } = change;
  return parseAgent({
    ...stored,
    ...(wantedName !== undefined && { name: slugOf(wantedName) }),
    ...(model !== undefined && modelOf(model)),
    ...(wantedSystem !== undefined && { instructions: wantedSystem ?? "" }),
    ...(tools !== undefined && withTools(stored, tools ?? [])),
    ...(subagents !== undefined && { subagents }),
  });
}

function requireSupported(
  { mcp_servers: stored }: AgentDefinition,
  { mcp_servers: servers, tools, skills, execution_identity: identity }: DefinitionChange,
): void {
  // A client may send back what it received.
  if ((servers ?? []).length > 0 && !isSameJson(servers, mcpServersToWireV1(stored)))
    throw notSupported("mcp_servers with a URL", NO_MCP_URLS);
  const toolsets = (tools ?? []).filter((tool) => tool.type === "mcp_toolset");
  if (toolsets.length > 0 && !isSameJson(toolsets, mcpToolsetsToWireV1(stored)))
    throw notSupported("tools of type mcp_toolset", NO_MCP_URLS);
  if ((skills ?? []).length > 0)
    throw notSupported("skills", "Omit them, and put what the agent must know into `system`.");
  if (identity != null && identity.type !== "service_account")
    throw notSupported(`execution_identity of type ${identity.type}`, "Omit it: the agent runs as the server's user.");
}

/** Ignores the order of keys. */
function isSameJson(left: unknown, right: unknown): boolean {
  return JSON.stringify(left, sortKeys) === JSON.stringify(right, sortKeys);
}

function sortKeys(_: string, part: unknown): unknown {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
  return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** A model without an effort gets its default effort. */
function modelOf(model: ModelParams): Pick<AgentDefinition, "model" | "effort"> {
  if (typeof model === "string") return { model, effort: undefined };
  if (model.inference_geo != null)
    throw notSupported("model.inference_geo", "Omit it: the server's upstream decides where models run.");
  if (model.speed === "fast") throw notSupported('model.speed "fast"', 'Omit it, or write "standard".');
  return { model: model.id, effort: typeof model.effort === "object" ? model.effort?.type : model.effort };
}

/** Replaces everything that the API can express. Keeps the rest, such as rules with a pattern. */
function withTools(
  { tools, permissions }: AgentDefinition,
  wanted: ToolParams,
): Pick<AgentDefinition, "tools" | "permissions" | "custom_tools"> {
  const { policies, blocked, custom, asks } = wantedTools(wanted);
  const rules = rulesFor(policies, blocked);
  requireEffective(policies, rules);
  const known: readonly string[] = [...TOOLSET_NAMES.map((each) => TOOLSET[each]), QUESTION_TOOL];
  const kept = withoutToolset(permissions);
  return {
    tools: [
      ...[...policies.keys()].map((each) => TOOLSET[each]),
      ...(asks ? [QUESTION_TOOL] : []),
      ...tools.filter((tool) => !known.includes(tool)),
    ],
    permissions: {
      ...permissions,
      allow: [...rules.allow, ...kept.allow],
      ask: [...rules.ask, ...kept.ask],
      deny: [...rules.deny, ...kept.deny],
    },
    custom_tools: custom.length === 0 ? undefined : [...custom],
  };
}
