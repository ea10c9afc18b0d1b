import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineRequest } from "../core/ports/engine.ts";
import { CapstanError } from "../core/errors.ts";
import { isRemote, type McpProgram } from "../core/agent/mcp-server-schema.ts";
import type { Confinement } from "../sandbox/support.ts";
import { makeOwnDirectory } from "../process/own-files.ts";
import { findProgram, safePath } from "../process/programs.ts";
import { problemWithCommand } from "./command.ts";
import { confinedCommand } from "../sandbox/confined-command.ts";

/** How a program is started. */
interface ProgramStart {
  readonly type: "stdio";
  readonly command: string;
  readonly args: string[];
}

interface ProgramServers {
  readonly configs: Record<string, ProgramStart>;
  /** Call this when the process has ended; until then it restarts a server that has died. */
  readonly close: () => void;
}

export interface ProgramSettings {
  /** Search path for the servers. */
  readonly path: string;
  /** The sandbox of servers, except those that run outside. */
  readonly confinement?: Confinement | undefined;
}

/** Throws for a program that does not exist. */
export function requirePrograms({ agent }: Pick<EngineRequest, "agent">, { path }: ProgramSettings): void {
  const missing = Object.entries(agent.mcp_servers ?? {}).flatMap(([name, server]) => {
    const problem = isRemote(server) ? undefined : problemWithCommand(server, path);
    return problem === undefined ? [] : [{ name, ...problem }];
  });
  if (missing.length === 0) return;
  throw new CapstanError(
    "engine_failed",
    missing
      .map(
        ({ name, what, remedy }) =>
          `The MCP server ${name} (${what}) did not start. ${remedy} in mcp_servers.${name}.command.`,
      )
      .join("\n"),
    { data: { servers: missing.map(({ name }) => name) } },
  );
}

/** The agent's servers that are programs. */
export function programServers(
  { agent, stateDir, serverFiles = {} }: Pick<EngineRequest, "agent" | "stateDir" | "serverFiles">,
  settings: ProgramSettings,
): ProgramServers {
  const all = join(stateDir, "mcp", ".start");
  // The files of a killed host contain variables that are saved nowhere else.
  rmSync(all, { recursive: true, force: true });
  const start = randomUUID();
  const own = join(all, start);
  const configs = Object.entries(agent.mcp_servers ?? {}).flatMap(([name, server]) => {
    if (isRemote(server)) return [];
    makeOwnDirectory(stateDir, "mcp", ".start", start);
    const temporary = makeOwnDirectory(stateDir, "mcp", name);
    const places = {
      ...settings,
      temporary,
      home: join(stateDir, "home"),
      file: join(own, `${name}.sh`),
      files: serverFiles[name] ?? {},
    };
    return [[name, { type: "stdio", command: "/bin/sh", args: [writeStart(server, places)] }]];
  });
  return { configs: Object.fromEntries(configs), close: () => rmSync(own, { recursive: true, force: true }) };
}

interface StartDirectories extends ProgramSettings {
  readonly file: string;
  readonly temporary: string;
  readonly home: string;
  /** The files it requires, by absolute path. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * A server is started by a script in the session's directory: the CLI would pass its whole environment to the server,
 * and would show the server's variables to everyone who can list processes. Its variables are set within the sandbox,
 * so that the program that starts the sandbox never has them; the script is passed as an open file, because its path is
 * hidden there.
 */
function writeStart(server: McpProgram, { path, confinement, temporary, home, file, files }: StartDirectories): string {
  const { command, args, env, outside_sandbox: isOutside = false } = server;
  const start = cleanStart({ PATH: path, LANG: "C.UTF-8", HOME: home, TMPDIR: temporary, ...env }, [command, ...args]);
  const isPlain = confinement === undefined || isOutside;
  writeFileSync(file, `${isPlain ? checkOf(files) : ""}${start}\n`, { mode: 0o600, flag: "wx" });
  if (isPlain) return file;
  const within = confinedCommand(confinement.plan, { confine: confinement.confine, ownDirectory: temporary });
  const outer = `${file}.confined`;
  const confined = cleanStart({ PATH: safePath(path) }, [...within, "/bin/sh", "/dev/fd/3"]);
  writeFileSync(outer, `${checkOf(files)}${confined} 3<${quoteWord(file)}\n`, { mode: 0o600, flag: "wx" });
  return outer;
}

/**
 * The CLI decides when to start a server, and restarts one that has died: its files are checked right before that. Does
 * nothing if the machine lacks the program for it; the host has checked when it started the CLI.
 */
function checkOf(files: Readonly<Record<string, string>>): string {
  const lines = Object.entries(files)
    .filter(([path]) => !/[\n\\]/.test(path))
    .map(([path, hash]) => quoteWord(`${hash}  ${path}`));
  const sums = [["sha256sum"], ["shasum", "-a", "256"]].flatMap(([name = "", ...args]) => {
    const program = findProgram(name);
    return program === undefined ? [] : [[program, ...args].map(quoteWord).join(" ")];
  });
  if (lines.length === 0 || sums[0] === undefined) return "";
  const told = `echo "A program of this MCP server has changed since the session was started." >&2; exit 1`;
  return `printf '%s\\n' ${lines.join(" ")} | ${sums[0]} -c --status || { ${told}; }\n`;
}

function cleanStart(variables: Readonly<Record<string, string>>, words: readonly string[]): string {
  const env = findProgram("env") ?? "/usr/bin/env";
  const assignments = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
  return ["exec", ...[env, "-i", ...assignments, ...words].map(quoteWord)].join(" ");
}

function quoteWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
