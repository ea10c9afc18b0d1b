import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { McpServerStatus, McpStdioServerConfig, Query } from "@anthropic-ai/claude-agent-sdk";
import type { McpServer } from "../../core/agent-definition.ts";
import type { EngineRequest } from "../../core/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SandboxPlan } from "../../core/sandbox.ts";
import { confinedCommand } from "./mcp-sandbox.ts";
import type { ClaudeSettings } from "./options.ts";

/** What servers are started in, unless they are to run outside. */
interface Confinement {
  readonly plan: SandboxPlan;
  readonly confine: readonly string[];
}

/** The servers of the agent, as programs that the CLI starts. */
export function mcpServers(
  { agent, stateDir }: Pick<EngineRequest, "agent" | "stateDir">,
  { path, confinement }: Pick<ClaudeSettings, "path"> & { readonly confinement?: Confinement | undefined },
): Record<string, McpStdioServerConfig> {
  return Object.fromEntries(
    Object.entries(agent.mcp_servers ?? {}).map(([name, server]) => {
      const file = launcher(server, { name, stateDir, path, confinement });
      return [name, { type: "stdio", command: "/bin/sh", args: [file] }];
    }),
  );
}

/**
 * A server is started by a script of the session's own: the CLI would give it all of its own environment, the token of
 * the gateway included, and would show the server's variables to everybody who may list processes.
 */
function launcher(
  { command, args, env, outside_sandbox: isOutside = false }: McpServer,
  {
    name,
    stateDir,
    path,
    confinement,
  }: { name: string; stateDir: string; path: string; confinement: Confinement | undefined },
): string {
  const directory = join(stateDir, "mcp");
  const temporary = join(directory, name);
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  const file = join(directory, `${name}.sh`);
  const variables = { PATH: path, LANG: "C.UTF-8", HOME: join(stateDir, "home"), TMPDIR: temporary, ...env };
  const within =
    confinement === undefined || isOutside
      ? []
      : confinedCommand(confinement.plan, { confine: confinement.confine, ownDirectory: temporary });
  const assignments = Object.entries(variables).map(([key, value]) => quoted(`${key}=${value}`));
  const line = ["exec", "env", "-i", ...assignments, ...[...within, command, ...args].map(quoted)].join(" ");
  writeFileSync(file, `${line}\n`, { mode: 0o600 });
  return file;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** How long a server may take to answer for the first time. A package that is downloaded first needs a while. */
const START_TIMEOUT_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** Rejects when a server does not come up: an agent without its tools would do something else than it was made for. */
export async function requireServers(
  query: Pick<Query, "mcpServerStatus">,
  { names, confined }: { readonly names: readonly string[]; readonly confined: boolean },
): Promise<void> {
  if (names.length === 0) return;
  const since = performance.now();
  for (;;) {
    const statuses = await query.mcpServerStatus();
    const missing = names.filter((name) => statusOf(statuses, name)?.status !== "connected");
    if (missing.length === 0) return;
    const waits = missing.every((name) => (statusOf(statuses, name)?.status ?? "pending") === "pending");
    if (!waits || performance.now() - since > START_TIMEOUT_MS)
      throw notStarted(
        missing.map((name) => [name, statusOf(statuses, name)?.error ?? "no answer"]),
        confined,
      );
    await sleep(LOOK_EVERY_MS);
  }
}

function statusOf(statuses: readonly McpServerStatus[], wanted: string): McpServerStatus | undefined {
  return statuses.find(({ name }) => name === wanted);
}

function notStarted(failed: readonly (readonly [name: string, why: string])[], confined: boolean): CapstanError {
  const which = failed.map(([name, why]) => `${name} (${why})`).join(", ");
  const inside = confined
    ? " It runs in the sandbox, without network; outside_sandbox: true lets it run outside, and the log says so."
    : "";
  return new CapstanError(
    "engine_failed",
    `The MCP server ${which} did not start. Run its command by hand to see why, and mend mcp_servers in the agent's definition.${inside}`,
    { data: { servers: failed.map(([name]) => name) } },
  );
}
