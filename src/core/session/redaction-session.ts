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
/** A longer one would not be found again. */
const LONGEST_NAME = 64;

/** The name of a variable of the host, with nothing but a word such as `Bearer` before it. */
const REFERENCE = /^(?:[A-Za-z]{1,20} )?\$\{[A-Za-z_]\w*\}$/;

/**
 * The value of a variable as it may be shown: one whose name says that it is secret is not shown at all. A reference is
 * no secret: what it stands for is looked up when a process starts.
 */
export function shownVariable(name: string, value: string): string {
  if (REFERENCE.test(value)) return value;
  return isSecretVariable(name) ? marker(name.slice(0, LONGEST_NAME)) : redactor.text(value);
}

/** What a session was started with, as it may be shown or leave this store. */
export function withoutSecrets<Session extends Definitions>(session: Session): Session {
  const { environment } = session;
  const { workspace } = environment;
  return {
    ...session,
    agent: withServers(session.agent, shownVariables),
    environment: {
      ...environment,
      // The address of a repository may hold a password.
      workspace:
        workspace.kind === "clone" && workspace.from !== undefined
          ? { ...workspace, from: redactor.text(workspace.from) }
          : workspace,
      variables: shownVariables(environment.variables),
    },
  };
}

/** Without the variables that were redacted: a program that finds a marker in one takes it for the value. */
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

function shownVariables(variables: Variables): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, shownVariable(name, value)]));
}

function knownVariables(variables: Variables): Record<string, string> {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => !hasMarker(value)));
}
