import { z } from "zod";
import { agentDefinition } from "../../core/agent/agent-definition.ts";
import { slashCommands } from "../../core/agent/slash-commands.ts";
import { layerEnvironment } from "../settings/environment.ts";
import { layerBudget, layerPermissions } from "../settings/layer-schemas.ts";

/**
 * An agent file as written: the file it extends, settings or defaults decide what it omits. agent-file.ts reads the
 * files that it names; agent-field-docs.ts describes the fields.
 */

const { shape } = agentDefinition;
const { keyType: subagentName, valueType: subagent } = shape.subagents.unwrap();
const { keyType: commandName, valueType: command } = slashCommands;
const toolName = shape.tools.unwrap().element;

/** Relative to the file that contains it. */
const path = z.string().min(1);

const instructions = z.union([
  z.string(),
  z
    .strictObject({ text: z.string().optional(), file: path.optional(), mode: shape.instructions_mode })
    .superRefine(eitherOf("text", "file")),
]);

const commandAsWritten = z
  .strictObject({
    description: command.shape.description,
    prompt: command.shape.prompt.optional(),
    file: path.optional(),
  })
  .superRefine(eitherOf("prompt", "file"));

const functions = z.array(
  z.union([path, z.strictObject({ module: path, exports: z.array(z.string().min(1)).min(1).optional() })]),
);

const SOURCES: Readonly<Record<string, string>> = {
  user: "user is not supported: an agent's process has its own home, without your Claude settings",
  local: "local is not supported: an agent has its own permissions, not those of .claude/settings.local.json",
};
const settingSource = z.enum(["project"], {
  error: ({ input }) => SOURCES[String(input)] ?? `expected project (found ${JSON.stringify(input)})`,
});

export const agentFile = z.strictObject({
  $schema: z.string().optional(),
  extends: path.optional(),
  name: shape.name.optional(),
  description: shape.description,
  instructions: instructions.optional(),
  inputs: shape.inputs,
  engine: shape.engine,
  model: shape.model.optional(),
  fallback_model: shape.fallback_model,
  effort: shape.effort,
  thinking: shape.thinking,
  compact_at: shape.compact_at,
  auth: shape.auth,
  tools: z.union([z.array(toolName), z.record(toolName, z.boolean())]).optional(),
  functions: functions.optional(),
  mcp_servers: shape.mcp_servers,
  custom_tools: shape.custom_tools,
  permissions: layerPermissions.optional(),
  budget: layerBudget.optional(),
  subagents: z.record(subagentName, z.union([path, subagent])).optional(),
  skills: z.array(path).optional(),
  commands: z.record(commandName, commandAsWritten).optional(),
  hooks: shape.hooks,
  output_schema: z.union([path, z.record(z.string(), z.unknown())]).optional(),
  setting_sources: z.array(settingSource).max(1).optional(),
  /** Its own suite; not part of the agent. suite-file.ts reads it when needed. */
  tests: z.record(z.string(), z.unknown()).optional(),
  /** Where its sessions work; not part of the agent itself. */
  environment: layerEnvironment.optional(),
});

export type AgentFile = z.infer<typeof agentFile>;

function eitherOf<Field extends string>(own: Field, file: Field) {
  return (given: Readonly<Partial<Record<Field, unknown>>>, context: z.core.$RefinementCtx): void => {
    if ((given[own] === undefined) === (given[file] === undefined))
      context.addIssue({
        code: "custom",
        message: `expected either ${own} or ${file} (found ${given[own] === undefined ? "neither" : "both"})`,
      });
  };
}
