import { z } from "zod";
import { CapstanError } from "./errors.ts";

/**
 * What an agent is: the part of an agent file that the runtime honours today. Unknown keys are errors, and
 * test/core/agent-definition.test.ts fails for a field that nobody consumes.
 */

export const MODES = ["normal", "accept-edits", "read-only", "plan", "yolo"] as const;
export type Mode = (typeof MODES)[number];

const name = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,62}$/, "lower-case letters, digits and dashes, starting with a letter");
/** A bare tool name such as `Bash` or `mcp__server__tool`. Patterns in parentheses belong to the permission rules. */
const toolName = z
  .string()
  .regex(/^[A-Za-z][\w-]*$/, "a tool name such as Bash or mcp__server__tool, without a pattern");

const permissions = z.strictObject({
  mode: z.enum(MODES).default("normal"),
  allow: z.array(toolName).default([]),
  ask: z.array(toolName).default([]),
  deny: z.array(toolName).default([]),
});

/** Every limit is for the whole session, but `steps` (model answers of the primary line) and `deadline_ms`: for one turn. */
const budget = z.strictObject({
  usd: z.number().positive().optional(),
  tokens: z.number().int().positive().optional(),
  turns: z.number().int().positive().optional(),
  steps: z.number().int().positive().optional(),
  tool_calls: z.number().int().positive().optional(),
  /** At most what a timer can wait, some 24 days. */
  deadline_ms: z.number().int().positive().max(2_147_483_647).optional(),
});

const subagent = z.strictObject({
  description: z.string().min(1),
  instructions: z.string().min(1),
  tools: z.array(toolName).optional(),
  model: z.string().min(1).optional(),
});

export const agentDefinition = z.strictObject({
  name,
  instructions: z.string().default(""),
  model: z.string().min(1),
  /** Built-in tools the agent has; host tools are given with the session. */
  tools: z.array(toolName).default([]),
  permissions: permissions.prefault({}),
  budget: budget.prefault({}),
  subagents: z.record(name, subagent).default({}),
  /** A JSON Schema the agent's final answer must match. */
  output_schema: z.record(z.string(), z.unknown()).optional(),
});

export type AgentDefinition = z.infer<typeof agentDefinition>;
export type AgentInput = z.input<typeof agentDefinition>;
export type Budget = z.infer<typeof budget>;
export type Permissions = z.infer<typeof permissions>;

/** Checks what a user wrote; the error names every wrong field and what was expected there. */
export function parseAgent(input: unknown): AgentDefinition {
  const parsed = agentDefinition.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "agent"}: ${issue.message}`);
  throw new CapstanError("invalid_agent", `The agent definition is not valid. ${problems.join("; ")}`, {
    data: { problems },
  });
}
