import type { AgentDefinition, CustomTool } from "../core/agent-definition.ts";
import { CapstanError } from "../core/errors.ts";
import type { Tool } from "../core/tool.ts";

/**
 * The tools of a session that are not the engine's: those that the program gives, and those of its agent that run in a
 * client. Throws `invalid_input` when two have the same name.
 */
export function sessionTools(agent: Pick<AgentDefinition, "custom_tools">, given: readonly Tool[] = []): Tool[] {
  const custom = agent.custom_tools ?? [];
  const twice = custom.find(({ name }) => given.some((tool) => tool.name === name));
  if (twice !== undefined)
    throw new CapstanError(
      "invalid_input",
      `The agent's custom tool ${twice.name} and a tool that the program gives have the same name. Rename one.`,
    );
  return [...given, ...custom.map(asTool)];
}

function asTool({ name, description, input_schema }: CustomTool): Tool {
  return {
    name,
    description,
    inputSchema: input_schema,
    annotations: { readOnly: false, destructive: false, safeInternal: false },
    custom: true,
    // Never called for a call that a client has answered: its result is the answer.
    async run() {
      return { isError: true, content: [{ type: "text", text: `No client has given a result of ${name}.` }] };
    },
  };
}
