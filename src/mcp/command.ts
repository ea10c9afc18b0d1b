import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import type { McpProgram } from "../core/agent/mcp-server-schema.ts";

interface CommandProblem {
  readonly what: string;
  /** The start of a sentence that ends with the location of the command. */
  readonly remedy: string;
}

/**
 * Why a server's program can't be started, and what to do; undefined if no problem is known. The engine would only say
 * that the connection was closed. A path within the session's directory is known only there.
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
    what: `${command} was not found in PATH (${path})`,
    remedy: "Install it, or use its full path",
  };
}

function problemAt(file: string): CommandProblem | undefined {
  try {
    if (!statSync(file).isFile())
      return { what: `${file} is not a file`, remedy: "Use the path of the program itself" };
  } catch {
    return { what: `${file} was not found`, remedy: "Install it, or correct the path" };
  }
  try {
    accessSync(file, constants.X_OK);
    return undefined;
  } catch {
    return { what: `${file} is not executable`, remedy: `Run chmod +x ${file}, or use another program` };
  }
}
