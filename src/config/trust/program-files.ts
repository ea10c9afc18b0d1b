import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { AgentDefinition } from "../../core/agent-definition.ts";
import { isInside } from "../../core/inside.ts";

type Programs = Pick<AgentDefinition, "functions" | "hooks" | "mcp_servers">;

interface Place {
  /** Where words of a command may lead: the session's directory, and the agent's. */
  readonly from: readonly string[];
  /** Only files in these are taken: all others are not the project's. */
  readonly within: readonly string[];
}

/** The files of a project that an agent's functions, hooks and MCP servers run, and what those import by relative paths. */
export function programFiles(agent: Programs, place: Place): ReadonlyMap<string, Uint8Array> {
  const { functions = [], hooks = {}, mcp_servers: servers = {} } = agent;
  const commands = [
    ...Object.values(hooks).flatMap((list) => list.map(({ command }) => command)),
    ...Object.values(servers).flatMap((server) => ("command" in server ? [[server.command, ...server.args]] : [])),
  ];
  return withImports([...functions.map(({ module }) => module), ...filesOfCommands(commands, place)], place);
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

/** More than any function has; what is beyond is not looked at, and the module list says so by its length. */
const MAX_FILES = 1_000;

export function withImports(paths: readonly string[], { within }: Place): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const open = [...paths];
  for (let path = open.shift(); path !== undefined && files.size < MAX_FILES; path = open.shift()) {
    const file = path;
    if (files.has(file) || !within.some((directory) => isInside(file, directory)) || !isFile(file)) continue;
    const bytes = contentOf(file);
    files.set(file, bytes);
    if (/\.[cm]?[jt]sx?$/.test(file))
      open.push(...importedBy(file, bytes.toString("utf8")), ...packageOf(file, within));
  }
  return files;
}

const LARGE_BYTES = 16 * 1_048_576;

/** Of a large file, which is hardly a program, what changes with its content and no command can set. */
function contentOf(file: string): Buffer {
  const { size, ino, ctimeNs } = statSync(file, { bigint: true });
  return size > LARGE_BYTES ? Buffer.from(`${size} bytes, file ${ino}, changed at ${ctimeNs}\n`) : readFileSync(file);
}

const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'`](\.{1,2}\/[^"'`]+)["'`]/g;
const ENDINGS = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".json", "/index.js", "/index.ts"];

function importedBy(file: string, text: string): readonly string[] {
  return [...text.matchAll(IMPORT)].flatMap(([, path = ""]) => {
    const named = resolve(dirname(file), path);
    return ENDINGS.map((ending) => `${named}${ending}`).filter(isFile);
  });
}

/** It says how the module is read, and what `#names` in it stand for. */
function packageOf(file: string, within: readonly string[]): readonly string[] {
  for (
    let directory = dirname(file);
    within.some((root) => isInside(directory, root));
    directory = dirname(directory)
  ) {
    const found = join(directory, "package.json");
    if (isFile(found)) return [found];
    if (directory === dirname(directory)) break;
  }
  return [];
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // Whatever is wrong, whoever runs it will tell.
    return false;
  }
}
