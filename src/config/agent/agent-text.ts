import { stringify } from "yaml";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";

/** An agent's definition as an agent file. Omits defaults. */
export function agentText(
  agent: AgentDefinition,
  { sandbox, limits, variables }: Pick<EnvironmentDefinition, "sandbox" | "limits" | "variables">,
): string {
  const { instructions, instructions_mode: mode, permissions, skills, ...rest } = agent;
  if (skills !== undefined && Object.keys(skills).length > 0)
    throw new CapstanError(
      "unsupported",
      `The agent ${agent.name} has skills, which are in separate files. Pass its file: --agent FILE`,
    );
  // The instructions already contain the inputs and the workspace's own instructions.
  const { inputs: _inputs, setting_sources: _sources, name, description, ...others } = rest;
  return stringify(
    withoutEmpty({
      name,
      description,
      instructions: mode === undefined ? instructions : { text: instructions, mode },
      ...others,
      permissions: withoutEmpty({ ...permissions, mode: permissions.mode === "normal" ? undefined : permissions.mode }),
      environment: withoutEmpty({ sandbox: sandbox.mode === "off" ? undefined : sandbox, limits, variables }),
    }),
    { lineWidth: 0 },
  );
}

function withoutEmpty(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => !isEmpty(one)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
