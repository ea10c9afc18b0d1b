import { isPlainSchema } from "../../config/yaml/plain-schema.ts";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { problemsWithEngine } from "../../core/ports/engine-capabilities.ts";
import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import { CapstanError } from "../../core/errors.ts";
import { isRemote } from "../../core/agent/mcp-server-schema.ts";
import { problemWithCommand } from "../../mcp/command.ts";
import { problemsWithModel } from "../../engines/model-traits.ts";
import { requireUsableSkills } from "../../engines/skills.ts";
import type { Requirement } from "../../gateway/upstreams/requirements.ts";
import type { CredentialOptions } from "../credentials/credential-settings.ts";
import { capabilitiesOf } from "../engines.ts";
import { loadFunctionsLazily, outputs } from "../host/lazy-tools.ts";

export { claudeCodePromptChars } from "../../engines/model-traits.ts";

/**
 * The parts of an agent that its engine cannot support, as far as known without a session; each as `field: problem`.
 */
export function notHonoured(agent: AgentDefinition): readonly string[] {
  const name = agent.engine ?? DEFAULT_ENGINE;
  return [
    ...problemsWithEngine({ name, capabilities: capabilitiesOf(name) }, { agent }),
    ...problemsWithModel(agent),
    ...problemsWithSkills(agent),
  ];
}

function problemsWithSkills(agent: AgentDefinition): readonly string[] {
  try {
    requireUsableSkills(agent);
    return [];
  } catch (error) {
    if (error instanceof CapstanError) return [error.message];
    throw error;
  }
}

/** Problems with the programs of its servers on this machine, each as `field: problem`. */
export function missingPrograms({ mcp_servers: servers = {} }: AgentDefinition, path: string): readonly string[] {
  return Object.entries(servers).flatMap(([name, server]) => {
    const problem = isRemote(server) ? undefined : problemWithCommand(server, path);
    return problem === undefined ? [] : [`mcp_servers.${name}.command: ${problem.what}. ${problem.remedy}`];
  });
}

/** Loads an agent's functions, which runs their code, and throws if a named tool is missing. */
export async function loadTools(agent: AgentDefinition): Promise<readonly string[]> {
  const [{ toolNames }, { requireKnownTools }] = await Promise.all([
    import("../../engines/claude/options.ts"),
    import("../../engines/rule-tools.ts"),
  ]);
  const tools = await loadFunctionsLazily(agent.functions ?? []);
  toolNames({ agent, tools });
  requireKnownTools({ agent, tools });
  return tools.map(({ name }) => name);
}

/** Throws if the agent's output schema cannot be used. */
export async function requireUsableSchema(schema: Record<string, unknown>): Promise<void> {
  if (isPlainSchema(schema)) return;
  await outputs.fromJsonSchema(schema);
}

/** What a provider lacks. Reads no secrets and makes no network requests. */
export async function missingFor(provider: AuthProvider, options: CredentialOptions): Promise<readonly Requirement[]> {
  const [{ requirementsOf }, { credentialSettings }] = await Promise.all([
    import("../../gateway/upstreams/requirements.ts"),
    import("../credentials/credential-settings.ts"),
  ]);
  return requirementsOf(provider, credentialSettings(options)).filter(({ found }) => found === undefined);
}
