import { z } from "zod";
import { agentInputs } from "./agent-inputs.ts";
import { authProvider } from "../auth/auth-schema.ts";
import { type SessionBudget, sessionBudget } from "../money/budget-schema.ts";
import { customTools } from "./custom-tool-schema.ts";
import { ENGINES, unknownEngine } from "./engine-name.ts";
import { CapstanError } from "../errors.ts";
import { agentHooks } from "./hooks-schema.ts";
import { mcpServers } from "./mcp-server-schema.ts";
import { ALLOWS_ALL } from "../rules/rule.ts";
import { ruleText as rule } from "../rules/rule-schema.ts";
import { skills } from "./skill-schema.ts";
import { slashCommands } from "./slash-commands.ts";

/**
 * What an agent is: the part of an agent file that the runtime uses. Unknown keys are errors, and
 * test/config/agent-pairs.test.ts fails for a field that has no effect.
 */

export const MODES = ["normal", "accept-edits", "read-only", "plan", "yolo"] as const;
export type Mode = (typeof MODES)[number];

const name = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,62}$/, "lower-case letters, digits and dashes, starting with a letter");
/** A bare tool name such as `Bash` or `mcp__server__tool`. Patterns in parentheses belong in permission rules. */
const toolName = z
  .string()
  .regex(/^[A-Za-z][\w-]*$/, "a tool name such as Bash or mcp__server__tool, without a pattern");

const allowRule = rule.refine((text) => text !== "*", ALLOWS_ALL);

const permissions = z.strictObject({
  /** Milliseconds after which an unanswered approval counts as denied (default: never). */
  approvals_expire_ms: z.number().int().positive().max(2_147_483_647).optional(),
  mode: z.enum(MODES).default("normal"),
  allow: z.array(allowRule).default([]),
  /** With `remember: false`, answers are never saved, and no grant applies. */
  ask: z.array(z.union([rule, z.strictObject({ rule, remember: z.boolean() })])).default([]),
  deny: z.array(rule).default([]),
});

const subagent = z.strictObject({
  description: z.string().min(1),
  instructions: z.string().min(1),
  tools: z.array(toolName).optional(),
  model: z.string().min(1).optional(),
});

export const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;

/** How the model thinks before it answers. A number of tokens is for models without adaptive thinking. */
const thinking = z.union([
  z.enum(["adaptive", "disabled"]),
  z.strictObject({ budget_tokens: z.number().int().min(1024).max(1_000_000) }),
]);

/** A module of the host, by absolute path, whose exports are tools. */
const functionModule = z.strictObject({
  module: z.string().startsWith("/", "an absolute path"),
  /** Use only these exports (default: all). */
  exports: z.array(z.string().min(1)).min(1).optional(),
});

/** The engine that runs the agent loop. */
export const engineName = z.enum(ENGINES, {
  error: ({ input }) =>
    typeof input === "string" ? unknownEngine(input) : `expected the name of an engine: ${ENGINES.join(", ")}`,
});

export const agentDefinition = z.strictObject({
  name,
  /** Describes the agent to people. */
  description: z.string().min(1).optional(),
  instructions: z.string().default(""),
  /** Whether the instructions replace Claude Code's own prompt or are appended to it (default: replace). */
  instructions_mode: z.enum(["replace", "append"]).optional(),
  /** Values that a session gets at its start, for `{{name}}` in the instructions. */
  inputs: agentInputs.optional(),
  /** The engine that runs its sessions. Default: from the settings or the host, else `claude`. */
  engine: engineName.optional(),
  model: z.string().min(1),
  /** Used when the model is overloaded. */
  fallback_model: z.string().min(1).optional(),
  effort: z.enum(EFFORTS).optional(),
  thinking: thinking.optional(),
  /** Tokens: a context of this size is compacted before the next request. Default: the engine decides. */
  compact_at: z.int().positive().optional(),
  /** The provider to use (default: the host's choice). */
  auth: authProvider.optional(),
  /** Built-in tools of the agent; host tools are passed with the session. */
  tools: z.array(toolName).default([]),
  permissions: permissions.prefault({}),
  budget: sessionBudget.prefault({}),
  subagents: z.record(name, subagent).default({}),
  /** Their tools are named `mcp__server__tool`, and need permission like every other. */
  mcp_servers: mcpServers.optional(),
  /** Host tools, from modules. */
  functions: z.array(functionModule).optional(),
  skills: skills.optional(),
  /** Short names for messages. */
  commands: slashCommands.optional(),
  /** What the agent reads from the workspace besides its files: `project` is its CLAUDE.md (default: nothing). */
  setting_sources: z.array(z.literal("project")).max(1).optional(),
  /** Functions of a client that the agent may call. The client provides their results. */
  custom_tools: customTools.optional(),
  /** A JSON Schema the agent's final answer must match. */
  output_schema: z.record(z.string(), z.unknown()).optional(),
  /** Commands that observe what happens, and may change or deny it beforehand. */
  hooks: agentHooks.optional(),
});

export type AgentDefinition = z.infer<typeof agentDefinition>;
export type AgentInput = z.input<typeof agentDefinition>;
export type Budget = SessionBudget;
export type Permissions = z.infer<typeof permissions>;

/** Validates user input. The error names every wrong field and what is expected there. */
export function parseAgent(input: unknown): AgentDefinition {
  const parsed = agentDefinition.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join(".") || "agent"}: ${issue.message}`);
  throw new CapstanError("invalid_agent", `The agent definition is not valid. ${problems.join("; ")}`, {
    data: { problems },
  });
}
