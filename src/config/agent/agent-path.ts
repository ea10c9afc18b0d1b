import { statSync } from "node:fs";
import { join } from "node:path";

/** The agent file that a path means: in a directory, its agent.yaml. */
export function agentPath(path: string): string {
  return isDirectory(path) ? join(path, "agent.yaml") : path;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whatever is wrong, reading will tell.
    return false;
  }
}
