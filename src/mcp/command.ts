import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import type { McpProgram } from "../core/agent/mcp-server-schema.ts";

interface CommandProblem {
  readonly what: string;
  /** The beginning of a sentence that ends with the place of the command. */
  readonly remedy: string;
}

/**
 * Why the program of a server cannot be started, and what to do; undefined when nothing is known to be wrong. The engine
 * would only say that the connection was closed. A path within the session's directory is known there alone.
 */
export function problemWithCommand(
  { command, env }: Pick<McpProgram, "command" | "env">,
  hostPath: string,
): CommandProblem | undefined {
  if (command.startsWith("/")) return problemAt(command);
  const path = env["PATH"] ?? hostPath;
  if (command.includes("/") || path.includes("${")) return undefined;
  const there = path
    .split(":")
    .filter((place) => place.startsWith("/"))
    .map((place) => problemAt(join(place, command)));
  if (there.includes(undefined)) return undefined;
  return {
    what: `${command} was not found; looked in PATH, which is ${path}`,
    remedy: "Install it, or write its whole path",
  };
}

function problemAt(file: string): CommandProblem | undefined {
  try {
    if (!statSync(file).isFile()) return { what: `${file} is not a file`, remedy: "Name the program itself" };
  } catch {
    return { what: `${file} was not found`, remedy: "Install it, or mend the path" };
  }
  try {
    accessSync(file, constants.X_OK);
    return undefined;
  } catch {
    return { what: `${file} may not be executed`, remedy: `Run chmod +x ${file}, or name another program` };
  }
}
