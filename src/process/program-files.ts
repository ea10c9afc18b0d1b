import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { AgentDefinition } from "../core/agent/agent-definition.ts";
import { isInside } from "../core/paths/is-inside.ts";
import { filesLoadedBy } from "./loaded-files.ts";

type Programs = Pick<AgentDefinition, "functions" | "hooks" | "mcp_servers">;

interface ProgramDirectories {
  /** Where words of a command may lead: the session's directory, and the agent's. */
  readonly from: readonly string[];
  /** Only files in these directories are included: others do not belong to the project. */
  readonly within: readonly string[];
}

/** The project files that an agent's functions, hooks and MCP servers run, and the files that those load. */
export function programFiles(agent: Programs, place: ProgramDirectories): ReadonlyMap<string, Uint8Array> {
  const { functions = [], hooks = {}, mcp_servers: servers = {} } = agent;
  const commands = [
    ...Object.values(hooks).flatMap((list) => list.map(({ command }) => command)),
    ...Object.values(servers).flatMap((server) => ("command" in server ? [[server.command, ...server.args]] : [])),
  ];
  return withLoaded([...functions.map(({ module }) => module), ...filesOfCommands(commands, place)], place);
}

type Command = string | readonly string[];

/** Every possible meaning of a word in a command: an extra file only causes an extra question. */
export function filesOfCommands(commands: readonly Command[], { from }: ProgramDirectories): readonly string[] {
  const words = commands.flatMap((command) => (typeof command === "string" ? command : command.join("\n")));
  return words
    .flatMap((text) => [...text.split("\n"), ...text.split(/[\s"'`;|&()<>{}=$]+/)])
    .filter((word) => word !== "" && !word.includes("\0"))
    .flatMap((word) => from.map((directory) => resolve(directory, word)));
}

/** The contents of these files and everything they load. */
export function withLoaded(paths: readonly string[], place: ProgramDirectories): ReadonlyMap<string, Uint8Array> {
  const files = filesLoadedBy(paths, place);
  const packages = files.filter((file) => /\.[cm]?[jt]sx?$/.test(file)).flatMap((file) => packageOf(file, place));
  return new Map([...files, ...packages].map((file) => [file, contentOf(file)]));
}

export const LARGE_BYTES = 16 * 1_048_576;

/** For a large file, which is hardly a program: a text that changes with its content and that no command can forge. */
function contentOf(file: string): Buffer {
  const { size, ino, ctimeNs } = statSync(file, { bigint: true });
  return size > LARGE_BYTES ? Buffer.from(`${size} bytes, file ${ino}, changed at ${ctimeNs}\n`) : readFileSync(file);
}

/** It decides how the module is read, and what `#names` in it refer to. */
function packageOf(file: string, { within }: ProgramDirectories): readonly string[] {
  for (
    let directory = dirname(file);
    within.some((root) => isInside(directory, root));
    directory = dirname(directory)
  ) {
    const found = join(directory, "package.json");
    if (statSync(found, { throwIfNoEntry: false })?.isFile() === true) return [found];
    if (directory === dirname(directory)) break;
  }
  return [];
}
