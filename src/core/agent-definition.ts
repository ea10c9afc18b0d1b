import { z } from "zod";
import { type SessionBudget, sessionBudget } from "./budget-schema.ts";
import { CapstanError } from "./errors.ts";
import { agentHooks } from "./hooks-schema.ts";
import { ALLOWS_ALL } from "./permission/rule.ts";
import { ruleText as rule } from "./permission/rule-schema.ts";
import { BUILT_IN_TOOLS, canonicalTool } from "./permission/tool-names.ts";

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

const allowRule = rule.refine((text) => text !== "*", ALLOWS_ALL);

const permissions = z.strictObject({
  /** From then on an approval counts as denied, in milliseconds. Default: never. */
  approvals_expire_ms: z.number().int().positive().max(2_147_483_647).optional(),
  mode: z.enum(MODES).default("normal"),
  allow: z.array(allowRule).default([]),
  /** With `remember: false` the answer is never kept, and no grant answers. */
  ask: z.array(z.union([rule, z.strictObject({ rule, remember: z.boolean() })])).default([]),
  deny: z.array(rule).default([]),
});

const subagent = z.strictObject({
  description: z.string().min(1),
  instructions: z.string().min(1),
  tools: z.array(toolName).optional(),
  model: z.string().min(1).optional(),
});

/** The server that carries the host's own tools has this name; no other server may pass for it. */
export const HOST_SERVER = "capstan";

/** What is wrong with a server's name. It becomes a part of its tools' names, `mcp__server__tool`. */
function problemWithServerName(text: string): string | undefined {
  if (text.toLowerCase() === HOST_SERVER) return `the name ${HOST_SERVER} is reserved; give the server another one`;
  return /^(?=.{1,63}$)[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*$/.test(text)
    ? undefined
    : "a server's name has up to 63 letters, digits, dashes and single underscores, and starts with a letter";
}

/** A program that speaks MCP on its standard input and output. */
const mcpServer = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  /** The variables it sees, besides the few that every program needs. */
  env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, "a name of a variable"), z.string()).default({}),
  /** Where commands run in a sandbox, this program does not. Default: it does, and has no network there. */
  outside_sandbox: z.boolean().optional(),
});
const mcpServers = z.record(z.string(), mcpServer).superRefine((servers, context) => {
  for (const server of Object.keys(servers)) {
    const message = problemWithServerName(server);
    if (message !== undefined) context.addIssue({ code: "custom", path: [server], message });
  }
});

/** What is wrong with the name of a custom tool. Rules must not take it for another kind of tool. */
function problemWithToolName(text: string): string | undefined {
  const builtIn = canonicalTool(text);
  if (BUILT_IN_TOOLS.includes(builtIn))
    return `the name ${text} is that of the built-in tool ${builtIn}; give it another one`;
  return text.startsWith("mcp__") ? "names that begin with mcp__ are those of MCP servers' tools" : undefined;
}

/** What the model API would refuse at every request. */
function problemWithInputSchema(schema: Readonly<Record<string, unknown>>): string | undefined {
  if (schema["type"] !== "object") return 'its type must be "object"';
  const mixed = ["anyOf", "oneOf", "allOf"].find((keyword) => keyword in schema);
  return mixed === undefined ? undefined : `it has ${mixed} at the top; use one plain object, with unions inside it`;
}

/** A JSON Schema of an object. */
const inputSchema = z
  .record(z.string(), z.unknown())
  .superRefine((schema, context) => report(problemWithInputSchema(schema), context))
  .refine(({ properties }) => properties === undefined || isObject(properties), "properties must be an object")
  .refine(
    ({ required }) =>
      required === undefined || (Array.isArray(required) && required.every((key) => typeof key === "string")),
    "required must be a list of names",
  );

/** A function that runs in a client: the session waits until the client has given its result. */
const customTool = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][\w-]{0,63}$/, "up to 64 letters, digits, _ and -, starting with a letter")
    .superRefine((text, context) => report(problemWithToolName(text), context)),
  /** Tells the model what the tool does and when to use it. */
  description: z.string().min(1),
  /** What the model is told of the input. */
  input_schema: inputSchema,
});
const customTools = z.array(customTool).superRefine((tools, context) => {
  for (const [index, { name: text }] of tools.entries())
    if (tools.findIndex((other) => other.name === text) < index)
      report(`two tools are named ${text}; rename one`, context, [index, "name"]);
});

function report(message: string | undefined, context: z.core.$RefinementCtx, path: (string | number)[] = []): void {
  if (message !== undefined) context.addIssue({ code: "custom", path, message });
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const agentDefinition = z.strictObject({
  name,
  instructions: z.string().default(""),
  model: z.string().min(1),
  /** Built-in tools the agent has; host tools are given with the session. */
  tools: z.array(toolName).default([]),
  permissions: permissions.prefault({}),
  budget: sessionBudget.prefault({}),
  subagents: z.record(name, subagent).default({}),
  /** Their tools are named `mcp__server__tool`, and decided about like every other. */
  mcp_servers: mcpServers.optional(),
  /** Functions of a client that the agent may call; who runs the session gives their results. */
  custom_tools: customTools.optional(),
  /** A JSON Schema the agent's final answer must match. */
  output_schema: z.record(z.string(), z.unknown()).optional(),
  /** Commands that see what happens, and may change or deny it before it does. */
  hooks: agentHooks.optional(),
});

export type AgentDefinition = z.infer<typeof agentDefinition>;
export type AgentInput = z.input<typeof agentDefinition>;
export type CustomTool = z.infer<typeof customTool>;
export type McpServer = z.infer<typeof mcpServer>;
export type Budget = SessionBudget;
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
