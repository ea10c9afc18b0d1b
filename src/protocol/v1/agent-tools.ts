import { z } from "zod";
import type { CustomTool } from "../../core/agent/custom-tool-schema.ts";
import { QUESTION_NAME } from "./question-tool.ts";
import { invalid, notSupported } from "./refusal.ts";

/** The tools of an agent as clients of the Managed Agents API write them. */

/** The API's name for each tool of its toolset, and Capstan's. */
export const TOOLSET = {
  bash: "Bash",
  edit: "Edit",
  read: "Read",
  write: "Write",
  glob: "Glob",
  grep: "Grep",
  web_fetch: "WebFetch",
  web_search: "WebSearch",
} as const;
export type ToolsetName = keyof typeof TOOLSET;
export const TOOLSET_NAMES = Object.keys(TOOLSET) as ToolsetName[];

const policy = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("always_allow") }),
  z.strictObject({ type: z.literal("always_ask") }),
  z.strictObject({ type: z.literal("auto") }),
]);
export type PolicyName = z.infer<typeof policy>["type"];

const tunable = { enabled: z.boolean().nullish(), permission_policy: policy.nullish() };
function plain<Name extends ToolsetName>(name: Name) {
  return z.strictObject({ name: z.literal(name), type: z.literal(name).optional(), ...tunable });
}

const domains = z.array(z.string()).min(1, "name a domain, or leave the field out").max(64).optional();
const configParams = z.discriminatedUnion("name", [
  plain("bash"),
  plain("edit"),
  plain("read"),
  plain("write"),
  plain("glob"),
  plain("grep"),
  plain("web_fetch").extend({
    allowed_domains: domains,
    blocked_domains: domains,
    max_content_tokens: z.number().int().nullish(),
    url_sources: z.unknown().optional(),
  }),
  plain("web_search").extend({
    allowed_domains: domains,
    blocked_domains: domains,
    user_location: z.unknown().optional(),
  }),
]);
type ConfigParams = z.infer<typeof configParams>;

const toolsetParams = z.strictObject({
  type: z.literal("agent_toolset_20260401"),
  configs: z.array(configParams).max(64).optional(),
  default_config: z.strictObject(tunable).nullish(),
});

/** What else is wrong with one, the agent's definition tells. */
const customToolParams = z.strictObject({
  type: z.literal("custom"),
  name: z.string(),
  description: z.string(),
  input_schema: z.looseObject({ type: z.literal("object") }),
});

/** Accepted as it is shown, and not changed through this API; what else it holds is not looked into. */
const mcpToolsetParams = z.strictObject({
  type: z.literal("mcp_toolset"),
  mcp_server_name: z.string(),
  default_config: z.unknown().optional(),
  configs: z.array(z.unknown()).optional(),
});

export const toolParams = z
  .array(z.discriminatedUnion("type", [toolsetParams, mcpToolsetParams, customToolParams]))
  .max(256);
export type ToolParams = z.infer<typeof toolParams>;

/** What a list of tools asks for. */
export interface WantedTools {
  /** Of the toolset: what each tool that is enabled may do. */
  readonly policies: ReadonlyMap<ToolsetName, PolicyName>;
  /** Domains that WebFetch must not reach, with all below them. */
  readonly blocked: readonly string[];
  readonly custom: readonly CustomTool[];
  /** The agent may ask the user questions. */
  readonly asks: boolean;
}

export const NO_MCP_URLS =
  "Define MCP servers with the agent, through /api/agents or an agent file, and use that agent by its id.";

export function wantedTools(tools: ToolParams): WantedTools {
  const [toolset, second] = tools.filter((tool) => tool.type === "agent_toolset_20260401");
  if (second !== undefined) throw invalid("tools: agent_toolset_20260401 may stand there once.");
  const custom = tools.filter((tool) => tool.type === "custom").filter(({ name }) => name !== QUESTION_NAME);
  return {
    policies: toolset === undefined ? new Map() : policiesOf(toolset),
    blocked: (toolset?.configs ?? []).flatMap(blockedBy),
    asks: tools.some((tool) => tool.type === "custom" && tool.name === QUESTION_NAME),
    custom: custom.map(({ name, description, input_schema }) => ({
      name,
      description,
      // A client may write null for what it leaves out.
      input_schema: Object.fromEntries(Object.entries(input_schema).filter(([, value]) => value !== null)),
    })),
  };
}

/**
 * A policy that nobody names is `auto`: Capstan's own rules decide, which allow what only reads in the workspace and ask
 * about the rest. The hosted API allows everything there; here nothing is allowed that nobody said is.
 */
function policiesOf({
  configs = [],
  default_config: usual,
}: z.infer<typeof toolsetParams>): Map<ToolsetName, PolicyName> {
  const policies = new Map<ToolsetName, PolicyName>();
  for (const name of TOOLSET_NAMES) {
    const [own, second] = configs.filter((config) => config.name === name);
    if (second !== undefined) throw invalid(`tools: configs has two entries for ${name}. Leave one.`);
    if (own?.enabled ?? usual?.enabled ?? true)
      policies.set(name, own?.permission_policy?.type ?? usual?.permission_policy?.type ?? "auto");
  }
  return policies;
}

function blockedBy(config: ConfigParams): readonly string[] {
  if (config.name === "web_search") {
    if (config.allowed_domains !== undefined || config.blocked_domains !== undefined)
      throw notSupported("domains for web_search", "Leave allowed_domains and blocked_domains out.");
    if (config.user_location != null) throw notSupported("a user_location for web_search", "Leave it out.");
  }
  if (config.name !== "web_fetch") return [];
  if (config.allowed_domains !== undefined)
    throw notSupported(
      "allowed_domains for web_fetch",
      "Name blocked_domains, or give the environment limited networking with allowed_hosts.",
    );
  if (config.max_content_tokens != null) throw notSupported("max_content_tokens for web_fetch", "Leave it out.");
  if (config.url_sources != null) throw notSupported("url_sources for web_fetch", "Leave it out.");
  return (config.blocked_domains ?? []).map(hostName);
}

function hostName(domain: string): string {
  const name = domain.toLowerCase();
  if (/^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/.test(name)) return name;
  throw invalid(
    `tools: ${JSON.stringify(domain)} in blocked_domains is no host name. Write docs.example.com, without a scheme, port or path.`,
  );
}
