import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { AgentDefinition } from "../core/agent/agent-definition.ts";
import { isInside } from "../core/paths/inside.ts";
import { filesLoadedBy } from "./loaded-files.ts";

type Programs = Pick<AgentDefinition, "functions" | "hooks" | "mcp_servers">;

interface Place {
  /** Where words of a command may lead: the session's directory, and the agent's. */
  readonly from: readonly string[];
  /** Only files in these are taken: all others are not the project's. */
  readonly within: readonly string[];
}

/** The files of a project that an agent's functions, hooks and MCP servers run, and what those load. */
export function programFiles(agent: Programs, place: Place): ReadonlyMap<string, Uint8Array> {
  const { functions = [], hooks = {}, mcp_servers: servers = {} } = agent;
  const commands = [
    ...Object.values(hooks).flatMap((list) => list.map(({ command }) => command)),
    ...Object.values(servers).flatMap((server) => ("command" in server ? [[server.command, ...server.args]] : [])),
  ];
  return withLoaded([...functions.map(({ module }) => module), ...filesOfCommands(commands, place)], place);
}

type Command = string | readonly string[];

/** Whatever a word of a command may mean: a file too many only asks once more. */
export function filesOfCommands(commands: readonly Command[], { from }: Place): readonly string[] {
  const words = commands.flatMap((command) => (typeof command === "string" ? command : command.join("\n")));
  return words
    .flatMap((text) => [...text.split("\n"), ...text.split(/[\s"'`;|&()<>{}=$]+/)])
    .filter((word) => word !== "" && !word.includes("\0"))
    .flatMap((word) => from.map((directory) => resolve(directory, word)));
}

/** The contents of these files and of all that they load. */
export function withLoaded(paths: readonly string[], place: Place): ReadonlyMap<string, Uint8Array> {
  const files = filesLoadedBy(paths, place);
  const packages = files.filter((file) => /\.[cm]?[jt]sx?$/.test(file)).flatMap((file) => packageOf(file, place));
  return new Map([...files, ...packages].map((file) => [file, contentOf(file)]));
}

export const LARGE_BYTES = 16 * 1_048_576;

/** Of a large file, which is hardly a program, what changes with its content and no command can set. */
function contentOf(file: string): Buffer {
  const { size, ino, ctimeNs } = statSync(file, { bigint: true });
  return size > LARGE_BYTES ? Buffer.from(`${size} bytes, file ${ino}, changed at ${ctimeNs}\n`) : readFileSync(file);
}

/** It says how the module is read, and what `#names` in it stand for. */
function packageOf(file: string, { within }: Place): readonly string[] {
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
