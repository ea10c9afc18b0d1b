import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { type EnvironmentDefinition, environmentDefinition } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import { hiddenValues, isRemote, type McpServer, withHiddenValues } from "../../core/agent/mcp-server-schema.ts";
import { hasMarker } from "../../core/redaction/redaction-marker.ts";
import { withoutSecrets } from "../../core/session/redaction-session.ts";

/** Definitions are shown without their secrets. If sent back as shown, they keep the saved secrets. */

const PLAIN = environmentDefinition.parse({});
const NOBODY: AgentDefinition = {
  name: "nobody",
  instructions: "",
  model: "none",
  tools: [],
  permissions: { mode: "normal", allow: [], ask: [], deny: [] },
  budget: {},
  subagents: {},
};

export function withoutAgentSecrets(agent: AgentDefinition): AgentDefinition {
  return withoutSecrets({ agent, environment: PLAIN }).agent;
}

export function withoutEnvironmentSecrets(environment: EnvironmentDefinition): EnvironmentDefinition {
  return withoutSecrets({ agent: NOBODY, environment }).environment;
}

export function agentWithSecrets(given: AgentDefinition, stored?: AgentDefinition): AgentDefinition {
  const { mcp_servers: servers } = given;
  if (servers === undefined) return given;
  const shown = stored && withoutAgentSecrets(stored);
  const filled = Object.entries(servers).map(([name, server]) => {
    const known = { stored: hiddenFor(server, stored, name), shown: hiddenFor(server, shown, name) };
    const field = `definition.mcp_servers.${name}.${isRemote(server) ? "headers" : "env"}`;
    return [name, withHiddenValues(server, filledIn(hiddenValues(server), known, field))] as const;
  });
  return { ...given, mcp_servers: Object.fromEntries(filled) };
}

/** The hidden values of the agent's server with that name, if `given` sends them to the same receiver. */
function hiddenFor(given: McpServer, agent: AgentDefinition | undefined, name: string): Variables | undefined {
  const server = agent?.mcp_servers?.[name];
  return server && receiver(server) === receiver(given) ? hiddenValues(server) : undefined;
}

/** Identifies who receives a server's secrets. */
function receiver(server: McpServer): string {
  return JSON.stringify(
    isRemote(server) ? [server.type, new URL(server.url).origin] : ["stdio", server.command, ...server.args],
  );
}

export function environmentWithSecrets(
  given: EnvironmentDefinition,
  stored?: EnvironmentDefinition,
): EnvironmentDefinition {
  const known = { stored: stored?.variables, shown: stored && withoutEnvironmentSecrets(stored).variables };
  return { ...given, variables: filledIn(given.variables, known, "definition.variables") };
}

type Variables = Readonly<Record<string, string>>;

function filledIn(
  given: Variables,
  { stored, shown }: { readonly stored: Variables | undefined; readonly shown: Variables | undefined },
  field: string,
): Record<string, string> {
  const values = Object.entries(given).map(([name, value]) => {
    if (!hasMarker(value)) return [name, value] as const;
    const kept = shown?.[name] === value ? stored?.[name] : undefined;
    // A program would use the placeholder as the value.
    if (kept === undefined)
      throw new CapstanError(
        "invalid_input",
        `${field}.${name}: ${value} is the placeholder of a secret that is not saved for this definition. Enter the value itself.`,
      );
    return [name, kept] as const;
  });
  return Object.fromEntries(values);
}
