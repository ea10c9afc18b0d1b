import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { filesLoadedBy } from "../../process/loaded-files.ts";
import { realPath } from "../paths/real-path.ts";

/** Enough bytes to find a top-level field of any agent file. */
const LOOKED_BYTES = 65_536;
/** Top-level fields of agent files and suites that few other YAML files have. */
const AGENT_FIELD = /^["']?(?:instructions|extends|subagents|mcp_servers|setting_sources|credential_command)["']?\s*:/m;

/** Whether an existing file is an agent file, under any name. */
export function isAgentFile(path: string): boolean {
  return /\.ya?ml$/i.test(path) && AGENT_FIELD.test(startOf(path));
}

function startOf(path: string): string {
  let file: number;
  try {
    // Non-blocking, so that a named pipe cannot hang the host.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return "";
  }
  try {
    if (!fstatSync(file).isFile()) return "";
    const bytes = new Uint8Array(LOOKED_BYTES);
    return Buffer.from(bytes.subarray(0, readSync(file, bytes))).toString("utf8");
  } finally {
    closeSync(file);
  }
}

/**
 * The files that an agent's hooks, functions and servers run, and the files these load, before and after resolving
 * links.
 */
export function agentPrograms({ functions, hooks, mcp_servers: servers }: AgentDefinition, cwd: string): string[] {
  const commands = Object.values(hooks ?? {})
    .flat()
    .flatMap(({ command }) => (typeof command === "string" ? command.split(/[\s"'`;|&()<>]+/) : command));
  const started = Object.values(servers ?? {}).flatMap((server) =>
    "command" in server ? [server.command, ...(server.args ?? [])] : [],
  );
  const files = [...commands, ...started]
    .filter((word) => word.includes("/") || /\.\w+$/.test(word))
    .map((word) => (isAbsolute(word) ? word : resolve(cwd, word)))
    .filter((file) => existsSync(file));
  const named = [...(functions ?? []).map(({ module }) => module), ...files];
  const within = [cwd, ...named.map((file) => dirname(file))];
  const loaded = filesLoadedBy(named, { from: [cwd], within });
  // Both ends of a link: changing either changes what runs.
  return [...new Set([...named, ...loaded].flatMap((file) => [file, realPath(file)]))];
}
