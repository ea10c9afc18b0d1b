import { statSync } from "node:fs";
import { join } from "node:path";

/** The agent file that a path refers to: for a directory, its agent.yaml. */
export function agentPath(path: string): string {
  return isDirectory(path) ? join(path, "agent.yaml") : path;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Reading reports the problem.
    return false;
  }
}
