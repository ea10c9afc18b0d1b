import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { CustomTool } from "../../core/agent/custom-tool-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import type { Tool } from "../../core/ports/tool.ts";

/** Loads the tools of function modules. Rejects with `invalid_agent`, naming the module and the export. */
export type LoadFunctions = (modules: NonNullable<AgentDefinition["functions"]>) => Promise<readonly Tool[]>;

/**
 * The tools of a session that are not the engine's: the program's, those of the agent's function modules, and those that
 * run in a client. Rejects with `invalid_input` when two have the same name.
 */
export async function sessionTools(
  loadFunctions: LoadFunctions,
  agent: Pick<AgentDefinition, "custom_tools" | "functions">,
  given: readonly Tool[] = [],
): Promise<Tool[]> {
  const functions = await loadFunctions(agent.functions ?? []);
  const custom = (agent.custom_tools ?? []).map(asTool);
  const kinds = [
    ...given.map((tool) => ["a tool that the program gives", tool] as const),
    ...functions.map((tool) => ["a function of the agent's", tool] as const),
    ...custom.map((tool) => ["a custom tool of the agent's", tool] as const),
  ];
  const known = new Map<string, string>();
  for (const [what, { name }] of kinds) {
    const other = known.get(name);
    // Two tools of the program may share a name; that is the program's choice.
    if (other !== undefined && other !== what)
      throw new CapstanError("invalid_input", `${name} is the name of ${other}, and of ${what}. Rename one.`);
    known.set(name, what);
  }
  return kinds.map(([, tool]) => tool);
}

function asTool({ name, description, input_schema }: CustomTool): Tool {
  return {
    name,
    description,
    inputSchema: input_schema,
    annotations: { readOnly: false, destructive: false, safeInternal: false },
    custom: true,
    // Never called once a client has answered: the answer is the result.
    async run() {
      return { isError: true, content: [{ type: "text", text: `No client has given a result of ${name}.` }] };
    },
  };
}
