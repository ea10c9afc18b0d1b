import { lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";

/** As many as the kernel follows. */
const MAX_LINKS = 40;

/**
 * Where an absolute path leads, link by link as the kernel goes: `..` after a link is the parent of where it leads, and
 * a link to what does not exist yet leads there all the same. What is not there is taken as it is written.
 */
export function realPath(path: string, cwd?: string): string {
  let links = MAX_LINKS;
  let current = "/";
  const names = path.split("/").toReversed();
  while (names.length > 0) {
    const name = names.pop();
    if (name === undefined || name === "" || name === ".") continue;
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const next = current === "/" ? `/${name}` : `${current}/${name}`;
    const target = links > 0 ? linkAt(next, cwd) : undefined;
    if (target === undefined) {
      current = next;
      continue;
    }
    links--;
    if (target.startsWith("/")) current = "/";
    names.push(...target.split("/").toReversed());
  }
  return current;
}

/** These lead elsewhere for every process: for the agent's own, to where it works. */
const OF_A_PROCESS = /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(cwd|root)$/;

function linkAt(path: string, cwd: string | undefined): string | undefined {
  const own = OF_A_PROCESS.exec(path)?.[1];
  if (own === "root") return "/";
  if (own === "cwd" && cwd !== undefined) return cwd;
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) return readlinkSync(path);
  } catch {
    // What this user may not look at, or what is no name at all, is taken as it is written.
  }
  return undefined;
}
