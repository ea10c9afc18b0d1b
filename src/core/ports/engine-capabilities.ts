import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { EngineRequest } from "./engine.ts";

/**
 * What an engine may lack. Everything else in test/contract/engine is required. An engine declares its abilities as
 * data; Capstan refuses an agent that needs a missing one by name, and docs/engines.md shows the table.
 */

type Wanted = Pick<EngineRequest, "agent"> & Partial<Pick<EngineRequest, "sandbox" | "limits">>;

interface Capability {
  /** For the table in docs/engines.md. */
  readonly title: string;
  /** The fields with which a session requests it. Absent: no field does. */
  readonly askedBy?: (wanted: Wanted) => readonly string[];
  /** The number in those fields, for an engine that supports only a range. */
  readonly numberIn?: (wanted: Wanted) => number | undefined;
}

export const CAPABILITIES = {
  subagents: {
    title: "Subagents: in parallel, nested, continued by a message",
    askedBy: ({ agent }) => (Object.keys(agent.subagents).length > 0 ? ["subagents"] : []),
  },
  custom_tools: {
    title: "Custom tools, run by a client",
    askedBy: ({ agent }) => ((agent.custom_tools ?? []).length > 0 ? ["custom_tools"] : []),
  },
  mcp_programs: {
    title: "MCP servers that are programs (stdio)",
    askedBy: ({ agent }) => serverField(agent, "command"),
  },
  mcp_remote: { title: "Remote MCP servers (http, sse)", askedBy: ({ agent }) => serverField(agent, "url") },
  elicitation: { title: "Questions of an MCP server to a person" },
  questions: { title: "Questions to a person (`AskUserQuestion`)", askedBy: byTool("AskUserQuestion") },
  plan_mode: {
    title: "Plan mode",
    askedBy: ({ agent }) => (agent.permissions.mode === "plan" ? ["permissions.mode"] : []),
  },
  tasks: { title: "Task lists", askedBy: byTool("TaskCreate", "TaskGet", "TaskList", "TaskUpdate") },
  web_fetch: { title: "`WebFetch`", askedBy: byTool("WebFetch") },
  web_search: { title: "`WebSearch`", askedBy: byTool("WebSearch") },
  notebooks: { title: "`NotebookEdit`", askedBy: byTool("NotebookEdit") },
  shell_state: { title: "The working directory survives from one command to the next" },
  structured_output: { title: "Structured output", askedBy: byField("output_schema") },
  compaction: { title: "Compaction, on request and automatic" },
  compact_at: {
    title: "`compact_at`, in tokens",
    askedBy: byField("compact_at"),
    numberIn: ({ agent }) => agent.compact_at,
  },
  model_switch: { title: "Another model between turns" },
  thinking: { title: "`thinking`", askedBy: byField("thinking") },
  effort: { title: "`effort`", askedBy: byField("effort") },
  fallback_model: { title: "`fallback_model`", askedBy: byField("fallback_model") },
  skills: { title: "Skills", askedBy: byField("skills") },
  project_file: { title: "The workspace's CLAUDE.md (`setting_sources`)", askedBy: byField("setting_sources") },
  engine_prompt: {
    title: "The engine's own prompt (`instructions_mode: append`)",
    askedBy: ({ agent }) => (agent.instructions_mode === "append" ? ["instructions_mode"] : []),
  },
  sandbox: {
    title: "Sandbox",
    // With `preferred`, the session starts without a sandbox, and the log says so.
    askedBy: ({ sandbox }) => (sandbox?.mode === "required" ? ["environment.sandbox"] : []),
  },
  process_limits: {
    title: "Limits on memory, processes and CPU time",
    askedBy: ({ limits }) => (Object.keys(limits ?? {}).length > 0 ? ["environment.limits"] : []),
  },
  own_process: { title: "A separate process per session" },
} as const satisfies Record<string, Capability>;

export type CapabilityName = keyof typeof CAPABILITIES;

/**
 * `true`, how it differs from the expected behavior, or the supported range; `lacks` says what the engine does not do.
 */
export type Ability =
  | true
  | { readonly note: string }
  | { readonly least: number; readonly most: number }
  | { readonly lacks: string };
export type EngineCapabilities = Readonly<Record<CapabilityName, Ability>>;

export function abilityLack(ability: Ability): string | undefined {
  return typeof ability === "object" && "lacks" in ability ? ability.lacks : undefined;
}

/** What a session needs and the engine lacks, each as `field: problem`. */
export function problemsWithEngine(
  { name, capabilities }: { readonly name: string; readonly capabilities: EngineCapabilities },
  wanted: Wanted,
): readonly string[] {
  return Object.entries<Capability>(CAPABILITIES).flatMap(([capability, { askedBy, numberIn }]) => {
    const ability = capabilities[capability as CapabilityName];
    const lack = abilityLack(ability);
    const problem =
      lack === undefined ? outside(ability, numberIn?.(wanted)) : `${lack}. Remove it, or choose another engine.`;
    const fields = problem === undefined ? [] : (askedBy?.(wanted) ?? []);
    return fields.map((field) => `${field}: the ${name} engine ${problem}`);
  });
}

function outside(ability: Ability, value: number | undefined): string | undefined {
  if (ability === true || !("least" in ability) || value === undefined) return undefined;
  const { least, most } = ability;
  return value < least || value > most ? `cannot use ${value}. Use ${least} to ${most}.` : undefined;
}

function byField(field: keyof AgentDefinition): (wanted: Wanted) => readonly string[] {
  return ({ agent }) => (agent[field] === undefined ? [] : [field]);
}

function byTool(...names: readonly string[]): (wanted: Wanted) => readonly string[] {
  return ({ agent: { tools, subagents } }) => {
    const lists = [
      ["tools", tools] as const,
      ...Object.entries(subagents).map(([name, part]) => [`subagents.${name}.tools`, part.tools ?? []] as const),
    ];
    return lists.flatMap(([field, list]) =>
      list.flatMap((tool) => (names.includes(tool) ? [`${field}: ${tool}`] : [])),
    );
  };
}

function serverField({ mcp_servers: servers = {} }: AgentDefinition, key: "command" | "url"): readonly string[] {
  return Object.entries(servers).flatMap(([name, server]) => (key in server ? [`mcp_servers.${name}`] : []));
}
