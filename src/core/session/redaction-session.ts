import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { EnvironmentDefinition } from "../environment/environment.ts";
import { hiddenValues, withHiddenValues } from "../agent/mcp-server-schema.ts";
import { createRedactor } from "../redaction/redaction.ts";
import { hasMarker, marker } from "../redaction/redaction-marker.ts";
import { isSecretVariable } from "../redaction/redaction-patterns.ts";

type Variables = Readonly<Record<string, string>>;

interface Definitions {
  readonly agent: AgentDefinition;
  readonly environment: EnvironmentDefinition;
}

const redactor = createRedactor();
/** A longer name would not be found again. */
const LONGEST_NAME = 64;

/** A reference to a variable of the host, with at most a word such as `Bearer` before it. */
const REFERENCE = /^(?:[A-Za-z]{1,20} )?\$\{[A-Za-z_]\w*\}$/;

/**
 * The value of a variable for display; hidden if the name indicates a secret. A reference is not a secret: it is
 * resolved when a process starts.
 */
export function redactVariable(name: string, value: string): string {
  if (REFERENCE.test(value)) return value;
  return isSecretVariable(name) ? marker(name.slice(0, LONGEST_NAME)) : redactor.text(value);
}

/** A session's definitions, for display or export. */
export function withoutSecrets<Session extends Definitions>(session: Session): Session {
  const { environment } = session;
  const { workspace } = environment;
  return {
    ...session,
    agent: withServers(session.agent, redactVariables),
    environment: {
      ...environment,
      // A repository's URL may contain a password.
      workspace:
        workspace.kind === "clone" && workspace.from !== undefined
          ? { ...workspace, from: redactor.text(workspace.from) }
          : workspace,
      variables: redactVariables(environment.variables),
    },
  };
}

/** Without redacted variables: a program would mistake the marker for the value. */
export function withoutRedacted<Session extends Definitions>(session: Session): Session {
  const { environment } = session;
  return {
    ...session,
    agent: withServers(session.agent, knownVariables),
    environment: { ...environment, variables: knownVariables(environment.variables) },
  };
}

function withServers(agent: AgentDefinition, change: (env: Variables) => Record<string, string>): AgentDefinition {
  if (agent.mcp_servers === undefined) return agent;
  const servers = Object.entries(agent.mcp_servers).map(([name, server]) => [
    name,
    withHiddenValues(server, change(hiddenValues(server))),
  ]);
  return { ...agent, mcp_servers: Object.fromEntries(servers) as typeof agent.mcp_servers };
}

function redactVariables(variables: Variables): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, redactVariable(name, value)]));
}

function knownVariables(variables: Variables): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => !hasMarker(value)));
}
