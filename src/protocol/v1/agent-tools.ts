import { z } from "zod";
import type { CustomTool } from "../../core/agent/custom-tool-schema.ts";
import { QUESTION_NAME } from "./question-tool.ts";
import { invalid, notSupported } from "./refusal.ts";

/** An agent's tools in requests of the Managed Agents API. */

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

const domains = z.array(z.string()).min(1, "name a domain, or omit the field").max(64).optional();
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

/** The agent's definition validates the rest. */
const customToolParams = z.strictObject({
  type: z.literal("custom"),
  name: z.string(),
  description: z.string(),
  input_schema: z.looseObject({ type: z.literal("object") }),
});

/** Accepted as shown, but read-only in this API; its content is not checked. */
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

/** What a list of tools requests. */
export interface WantedTools {
  /** For the toolset: the policy of each enabled tool. */
  readonly policies: ReadonlyMap<ToolsetName, PolicyName>;
  /** Domains that WebFetch must not reach, including subdomains. */
  readonly blocked: readonly string[];
  readonly custom: readonly CustomTool[];
  /** Whether the agent may ask the user questions. */
  readonly asks: boolean;
}

export const NO_MCP_URLS =
  "Define MCP servers with the agent, through /api/agents or an agent file, and use that agent by its id.";

export function wantedTools(tools: ToolParams): WantedTools {
  const [toolset, second] = tools.filter((tool) => tool.type === "agent_toolset_20260401");
  if (second !== undefined) throw invalid("tools: agent_toolset_20260401 may appear only once. Remove the others.");
  const custom = tools.filter((tool) => tool.type === "custom").filter(({ name }) => name !== QUESTION_NAME);
  return {
    policies: toolset === undefined ? new Map() : policiesOf(toolset),
    blocked: (toolset?.configs ?? []).flatMap(blockedBy),
    asks: tools.some((tool) => tool.type === "custom" && tool.name === QUESTION_NAME),
    custom: custom.map(({ name, description, input_schema }) => ({
      name,
      description,
      // Clients may send null for omitted fields.
      input_schema: Object.fromEntries(Object.entries(input_schema).filter(([, value]) => value !== null)),
    })),
  };
}

/**
 * The default policy is `auto`: Capstan's rules decide, which allow reading in the workspace and ask about the rest.
 * The hosted API allows everything; Capstan allows only what someone has allowed.
 */
function policiesOf({
  configs = [],
  default_config: usual,
}: z.infer<typeof toolsetParams>): Map<ToolsetName, PolicyName> {
  const policies = new Map<ToolsetName, PolicyName>();
  for (const name of TOOLSET_NAMES) {
    const [own, second] = configs.filter((config) => config.name === name);
    if (second !== undefined) throw invalid(`tools: configs has two entries for ${name}. Remove one.`);
    if (own?.enabled ?? usual?.enabled ?? true)
      policies.set(name, own?.permission_policy?.type ?? usual?.permission_policy?.type ?? "auto");
  }
  return policies;
}

function blockedBy(config: ConfigParams): readonly string[] {
  if (config.name === "web_search") {
    if (config.allowed_domains !== undefined || config.blocked_domains !== undefined)
      throw notSupported("domains for web_search", "Omit allowed_domains and blocked_domains.");
    if (config.user_location != null) throw notSupported("a user_location for web_search", "Omit it.");
  }
  if (config.name !== "web_fetch") return [];
  if (config.allowed_domains !== undefined)
    throw notSupported(
      "allowed_domains for web_fetch",
      "Use blocked_domains, or an environment with limited networking and allowed_hosts.",
    );
  if (config.max_content_tokens != null) throw notSupported("max_content_tokens for web_fetch", "Omit it.");
  if (config.url_sources != null) throw notSupported("url_sources for web_fetch", "Omit it.");
  return (config.blocked_domains ?? []).map(hostName);
}

function hostName(domain: string): string {
  const name = domain.toLowerCase();
  if (/^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/.test(name)) return name;
  throw invalid(
    `tools: ${JSON.stringify(domain)} in blocked_domains is not a host name. Write docs.example.com, without a scheme, port or path.`,
  );
}
