import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../config/project/home.ts";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import { messageOf } from "../../core/errors.ts";
import { isRemote, type McpServer, type RemoteMcpServer } from "../../core/agent/mcp-server-schema.ts";
import { createRedactor } from "../../core/redaction/redaction.ts";
import { notStarted, requireTools } from "../../mcp/policy.ts";
import { programServers, requirePrograms } from "../../mcp/programs.ts";
import { confinementOf, requireSandbox, sandboxFinder } from "../../sandbox/support.ts";
import { withHostVariables } from "../../runtime/engine/host-variables.ts";
import { sandboxOf } from "../../runtime/protected/sandbox.ts";
import type { AgentFindings } from "../../server/api/deps.ts";
import { hostVariables } from "../host/host-variables.ts";

type ServerCheck = AgentFindings["mcp_servers"][number];

export interface ServerSurroundings {
  /** The host's variables, which definitions may refer to. */
  readonly environment: Environment;
  /** The default environment of sessions: its sandbox applies to the check. */
  readonly place: EnvironmentDefinition;
  readonly home: string;
  readonly capstanHome: string;
  readonly secretFiles: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Connects to every server of an agent like a session would, and lists its tools. Programs run in an empty directory
 * that is removed afterwards: in the project's directory they might run what an agent wrote there.
 */
export function checkServers(agent: AgentDefinition, around: ServerSurroundings): Promise<ServerCheck[]> {
  return Promise.all(
    Object.entries(agent.mcp_servers ?? {}).map(([name, server]) =>
      checkServer({ ...agent, mcp_servers: { [name]: server } }, { name, server }, around),
    ),
  );
}

interface Named<Server> {
  readonly name: string;
  readonly server: Server;
}

async function checkServer(
  agent: AgentDefinition,
  { name, server }: Named<McpServer>,
  around: ServerSurroundings,
): Promise<ServerCheck> {
  const { environment, place } = around;
  const report = { name, type: server.type ?? "stdio" };
  let redactor = createRedactor();
  try {
    const { servers = {}, secrets } = withHostVariables(
      { agent, environment: { ...place, variables: {} } },
      hostVariables(environment),
    );
    redactor = createRedactor({ secrets });
    const resolved = servers[name] ?? server;
    const tools = isRemote(resolved)
      ? await toolsOfRemote({ name, server: resolved })
      : await toolsOfProgram({ ...agent, mcp_servers: servers }, name, around);
    return { ...report, connected: true, error: problemWith(name, server, tools), tools: [...tools] };
  } catch (thrown) {
    return { ...report, connected: false, error: redactor.text(messageOf(thrown)), tools: [] };
  }
}

/** Why a session would be refused although the server responds. */
function problemWith(name: string, server: McpServer, tools: readonly string[]): string | null {
  try {
    requireTools({ [name]: server }, [{ name, tools: tools.map((tool) => ({ name: tool })) }]);
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

async function toolsOfRemote({ name, server }: Named<RemoteMcpServer>): Promise<readonly string[]> {
  const { connectRemoteServer } = await import("../../mcp/remote/server.ts");
  // There is no person whom it could ask.
  const connected = await connectRemoteServer({ name, server, elicit: async () => ({ action: "cancel" }) });
  await connected.close();
  return connected.tools;
}

async function toolsOfProgram(
  agent: AgentDefinition,
  name: string,
  { environment, place, home, capstanHome, secretFiles, signal }: ServerSurroundings,
): Promise<readonly string[]> {
  const root = mkdtempSync(join(tmpdir(), "capstan-check-"));
  try {
    const [cwd, stateDir] = [join(root, "workspace"), join(root, "state")];
    for (const directory of [cwd, join(stateDir, "home")]) mkdirSync(directory, { recursive: true });
    // This is the only directory it may write to.
    const confined = { ...place, sandbox: { ...place.sandbox, allow_write: [] } };
    const record = { cwd, source: cwd, environment: confined };
    const sandbox = sandboxOf({ record, home, capstanHome, stateDir, variables: {}, secretFiles });
    const path = environment["PATH"] ?? "";
    const support = sandboxFinder(path);
    requireSandbox({ sandbox, agent }, support);
    requirePrograms({ agent }, { path });
    const confinement = confinementOf({ sandbox }, support);
    const started = programServers({ agent, stateDir }, { path, confinement });
    const { command = "", args = [] } = started.configs[name] ?? {};
    const tools = await import("../../mcp/program-tools.ts");
    return await tools.toolsOfProgram({ command, args, cwd }, signal).catch((thrown: unknown) => {
      throw notStarted([[name, messageOf(thrown)]], confinement !== undefined);
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
