import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import { QUESTION_TOOL } from "../../core/rules/tool-names.ts";
import { type PolicyName, TOOLSET, TOOLSET_NAMES, type ToolsetName } from "./agent-tools.ts";
import { publicMetadata, time, timeOrNull } from "./fields.ts";
import { mcpServersToWireV1, mcpToolsetsToWireV1 } from "./mcp-to-wire.ts";
import { type Roster, rosterIn } from "./multiagent.ts";
import { questionTool } from "./question-tool.ts";
import { blockedDomains, isDeniedByRule, policyOf } from "../tool-rules.ts";

/** Agents in responses of the Managed Agents API. Leaves out what that API cannot express. */

export function agentToWireV1(record: AgentRecord) {
  const { id, version, definition, createdAt, updatedAt, archivedAt } = record;
  const roster = rosterIn(record.metadata, definition);
  return {
    type: "agent" as const,
    id,
    version,
    name: record.name,
    description: record.description,
    ...definitionToWireV1(definition),
    multiagent: roster === undefined ? null : rosterToWireV1(roster, Object.values(roster.members).map(reference)),
    metadata: publicMetadata(record.metadata),
    created_at: time(createdAt),
    updated_at: time(updatedAt),
    archived_at: timeOrNull(archivedAt),
  };
}

/** The identity of the agent that a session was created from. */
export interface AgentIdentity {
  readonly id: string;
  readonly version: number;
  readonly name: string;
  readonly description: string | null;
}

/** A session's agent, as it was when the session was created. */
export function sessionAgentToWireV1(definition: AgentDefinition, identity: AgentIdentity, roster: Roster | undefined) {
  const members = Object.entries(roster?.members ?? {}).map(([slug, { id, version, name }]) => ({
    type: "agent" as const,
    id,
    version,
    name,
    ...subagentToWireV1(definition, slug),
  }));
  return {
    ...threadAgentToWireV1(definition, identity),
    multiagent: roster === undefined ? null : rosterToWireV1(roster, members),
  };
}

/** The same without the agents it may call. */
export function threadAgentToWireV1(definition: AgentDefinition, { id, version, name, description }: AgentIdentity) {
  return { type: "agent" as const, id, version, name, description, ...definitionToWireV1(definition) };
}

/** A session's subagent, created from a saved agent or defined inline with its parent. */
export function subagentThreadToWireV1(definition: AgentDefinition, slug: string, roster: Roster | undefined) {
  const member = roster?.members[slug];
  const view = subagentToWireV1(definition, slug);
  return member === undefined
    ? { type: "inline" as const, name: slug, ...view }
    : { type: "agent" as const, ...member, ...view };
}

function subagentToWireV1(definition: AgentDefinition, slug: string) {
  const subagent = definition.subagents[slug];
  return {
    description: subagent?.description ?? null,
    ...definitionToWireV1({
      model: subagent?.model ?? definition.model,
      instructions: subagent?.instructions ?? "",
      tools: subagent?.tools ?? definition.tools,
      permissions: definition.permissions,
      mcp_servers: definition.mcp_servers,
    }),
  };
}

function rosterToWireV1<Entry>({ type }: Roster, agents: Entry[]) {
  if (type === "coordinator") return { type, agents };
  const disabled = { type: "disabled" as const };
  const subagents = { type: "enabled" as const, inline_agents: disabled, predefined_agents: agents };
  return { type, advisor: disabled, workflows: disabled, subagents: agents.length === 0 ? disabled : subagents };
}

function reference({ id, version }: { readonly id: string; readonly version: number }) {
  return { type: "agent" as const, id, version };
}

function definitionToWireV1(
  definition: Pick<
    AgentDefinition,
    "model" | "effort" | "instructions" | "tools" | "permissions" | "custom_tools" | "mcp_servers"
  >,
) {
  const { model, effort, instructions, custom_tools: custom = [], mcp_servers: servers } = definition;
  const tools = toolsetToWireV1(definition);
  return {
    model: { id: model, speed: "standard" as const, ...(effort !== undefined && { effort: { type: effort } }) },
    system: instructions === "" ? null : instructions,
    tools: [
      ...(tools === undefined ? [] : [tools]),
      ...custom.map(({ name, description, input_schema: schema }) => ({
        type: "custom" as const,
        name,
        description,
        input_schema: { ...schema, type: "object" as const },
      })),
      ...(definition.tools.includes(QUESTION_TOOL) ? [questionTool] : []),
      ...mcpToolsetsToWireV1(servers),
    ],
    mcp_servers: mcpServersToWireV1(servers),
    skills: [],
    execution_identity: { type: "service_account" as const },
  };
}

type Setting = PolicyName | "off";

/** The most common setting is shown as the default; other tools are listed individually. */
function toolsetToWireV1({ tools, permissions }: Pick<AgentDefinition, "tools" | "permissions">) {
  const settings = TOOLSET_NAMES.map((name): [ToolsetName, Setting] => {
    const isOn = tools.includes(TOOLSET[name]) && !isDeniedByRule(name, permissions);
    return [name, isOn ? policyOf(name, permissions) : "off"];
  });
  if (settings.every(([, setting]) => setting === "off")) return undefined;
  const usual = mostFrequent(settings.map(([, setting]) => setting));
  const blocked = tools.includes("WebFetch") ? blockedDomains(permissions) : [];
  return {
    type: "agent_toolset_20260401" as const,
    default_config: switches(usual),
    configs: settings
      .filter(([name, setting]) => setting !== usual || (name === "web_fetch" && blocked.length > 0))
      .map(([name, setting]) => toolConfigToWireV1(name, setting, blocked)),
  };
}

function toolConfigToWireV1(name: ToolsetName, setting: Setting, blocked: readonly string[]) {
  if (name !== "web_fetch") return { name, type: name, ...switches(setting) } as PlainConfig;
  return {
    name,
    type: name,
    ...switches(setting),
    url_sources: null,
    ...(blocked.length > 0 && { blocked_domains: [...blocked] }),
  };
}

/** Name and type are equal, which the compiler cannot infer for a union. */
type PlainConfig = { [Name in Exclude<ToolsetName, "web_fetch">]: { name: Name; type: Name } }[Exclude<
  ToolsetName,
  "web_fetch"
>] &
  ReturnType<typeof switches>;

function switches(setting: Setting) {
  return { enabled: setting !== "off", permission_policy: { type: setting === "off" ? ("auto" as const) : setting } };
}

/** If several are equally frequent, returns the first in this order. */
function mostFrequent(settings: readonly Setting[]): Setting {
  const count = (wanted: Setting): number => settings.filter((setting) => setting === wanted).length;
  return (["auto", "always_allow", "always_ask", "off"] as const).reduce((best, next) =>
    count(next) > count(best) ? next : best,
  );
}
