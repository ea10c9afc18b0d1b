import type { AgentDefinition } from "./agent-definition.ts";
import type { EngineName } from "./engine-name.ts";

/** What agents ask of an engine beyond a conversation with tools: the field that asks, and when it does. */
const NEEDS = {
  instructions_mode: (agent) => agent.instructions_mode === "append",
  fallback_model: (agent) => agent.fallback_model !== undefined,
  effort: (agent) => agent.effort !== undefined,
  thinking: (agent) => agent.thinking !== undefined,
  mcp_servers: (agent) => hasAny(agent.mcp_servers),
  custom_tools: (agent) => hasAny(agent.custom_tools),
  functions: (agent) => hasAny(agent.functions),
  subagents: (agent) => hasAny(agent.subagents),
  skills: (agent) => hasAny(agent.skills),
  output_schema: (agent) => agent.output_schema !== undefined,
} as const satisfies Partial<Record<keyof AgentDefinition, (agent: AgentDefinition) => boolean>>;

export type AgentNeed = keyof typeof NEEDS;

/** What an engine cannot do for an agent, as data: an agent that asks for it is refused before anything starts. */
export interface EngineLacks {
  /** By the field of the agent that asks for it: what the engine cannot do, as the end of "The … engine cannot …". */
  readonly fields?: Readonly<Partial<Record<AgentNeed, string>>>;
  /** Built-in tools that other engines have. */
  readonly tools?: readonly string[];
}

/** What an agent asks for that the engine cannot do, each as `field: problem`. */
export function problemsWithEngine(
  { name, lacks = {} }: { readonly name: EngineName; readonly lacks?: EngineLacks | undefined },
  agent: AgentDefinition,
): readonly string[] {
  const fields = Object.entries(lacks.fields ?? {}).flatMap(([field, what]) =>
    NEEDS[field as AgentNeed](agent)
      ? [`${field}: the ${name} engine cannot ${what}. Leave it out, or choose another engine.`]
      : [],
  );
  const missing = (tools: readonly string[]): readonly string[] => tools.filter((tool) => lacks.tools?.includes(tool));
  const tools = [
    ["tools", missing(agent.tools)] as const,
    ...Object.entries(agent.subagents).map(
      ([name, subagent]) => [`subagents.${name}.tools`, missing(subagent.tools ?? [])] as const,
    ),
  ];
  return [
    ...fields,
    ...tools.flatMap(([field, names]) =>
      names.length === 0
        ? []
        : [`${field}: the ${name} engine has no ${names.join(", ")}. Leave it out, or choose another engine.`],
    ),
  ];
}

function hasAny(given: object | undefined): boolean {
  return given !== undefined && Object.keys(given).length > 0;
}
