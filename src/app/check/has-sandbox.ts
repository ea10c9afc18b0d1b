import type { Environment } from "../../config/project/home.ts";
import { sandboxFinder } from "../../sandbox/support.ts";

/** Whether this machine can sandbox commands of sessions that are started with these variables. */
export function hasSandbox(environment: Environment): boolean {
  return sandboxFinder(environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin")().missing === undefined;
}
