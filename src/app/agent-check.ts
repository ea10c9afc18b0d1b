import { isPlainSchema } from "../config/plain-schema.ts";
import type { AgentDefinition } from "../core/agent-definition.ts";
import type { AuthProvider } from "../core/auth-schema.ts";
import { requireModelSettings } from "../engines/claude/model-traits.ts";
import { requireUsableSkills } from "../engines/claude/skills.ts";
import type { Requirement } from "../gateway/requirements.ts";
import type { CredentialOptions } from "./credential-settings.ts";

export { claudeCodePromptChars } from "../engines/claude/model-traits.ts";

/** Throws what the engine cannot honour of an agent, as far as that is known without a session: `field: problem`. */
export function requireHonoured(agent: AgentDefinition): void {
  requireModelSettings(agent);
  requireUsableSkills(agent);
}

/** Loads the functions of an agent, which runs their code, and throws when a tool that it names is not there. */
export async function loadTools(agent: AgentDefinition): Promise<readonly string[]> {
  const [{ loadFunctions }, { toolNames }, { requireKnownTools }] = await Promise.all([
    import("./lazy-tools.ts"),
    import("../engines/claude/options.ts"),
    import("../engines/claude/rule-tools.ts"),
  ]);
  const tools = await loadFunctions(agent.functions ?? []);
  toolNames({ agent, tools });
  requireKnownTools({ agent, tools });
  return tools.map(({ name }) => name);
}

/** Throws when the schema of an agent's answer cannot be used. */
export async function requireUsableSchema(schema: Record<string, unknown>): Promise<void> {
  if (isPlainSchema(schema)) return;
  const { outputs } = await import("./lazy-tools.ts");
  await outputs.fromJsonSchema(schema);
}

/** What is missing for a provider. Reads no secret and asks nobody. */
export async function missingFor(provider: AuthProvider, options: CredentialOptions): Promise<readonly Requirement[]> {
  const [{ requirementsOf }, { credentialSettings }] = await Promise.all([
    import("../gateway/requirements.ts"),
    import("./credential-settings.ts"),
  ]);
  return requirementsOf(provider, credentialSettings(options)).filter(({ found }) => found === undefined);
}
