import type { z } from "zod";
import { type AgentDefinition, agentDefinition } from "../core/agent-definition.ts";
import { layerEnvironment } from "./environment.ts";
import { layerBudget, layerPermissions } from "./settings.ts";
import { readTextFile } from "./text-file.ts";

const { model, instructions, tools, subagents } = agentDefinition.shape;

/** An agent file that relies on settings for what it leaves out, the model included; nothing is filled in. */
const agentAsWritten = agentDefinition.extend({
  model: model.optional(),
  instructions: instructions.unwrap().optional(),
  tools: tools.unwrap().optional(),
  permissions: layerPermissions.optional(),
  budget: layerBudget.optional(),
  subagents: subagents.unwrap().optional(),
  /** Where its sessions may work; no part of the agent itself. */
  environment: layerEnvironment.optional(),
});

export type AgentAsWritten = z.infer<typeof agentAsWritten>;

/** A complete agent, whatever the settings say: it must name its model. */
export async function readAgentFile(path: string): Promise<AgentDefinition> {
  return read(path, agentDefinition);
}

/** An agent as one layer of the configuration. */
export async function readAgentAsWritten(path: string): Promise<AgentAsWritten> {
  return read(path, agentAsWritten);
}

async function read<Schema extends z.ZodType>(path: string, schema: Schema): Promise<z.output<Schema>> {
  const text = readTextFile(path, { what: "the agent file", code: "invalid_agent" });
  const { parseYaml } = await import("./yaml-file.ts");
  return parseYaml(text, { file: path, code: "invalid_agent", schema });
}
