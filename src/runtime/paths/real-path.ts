import { lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";

/** The kernel's limit. */
const MAX_LINKS = 40;

export interface FollowedPath {
  readonly real: string;
  /** Why the target is unknown: a loop of links, or a link that differs in each process. */
  readonly trouble?: "loop" | "process";
}

/** Returns the target of an absolute path; see `followPath`. */
export function realPath(path: string, cwd?: string): string {
  return followPath(path, cwd).real;
}

/**
 * Resolves an absolute path link by link, like the kernel: `..` after a link means the parent of its target, and a link
 * to a missing file resolves to that file. Missing parts stay as written.
 */
export function followPath(path: string, cwd?: string): FollowedPath {
  let links = MAX_LINKS;
  let current = "/";
  let trouble: FollowedPath["trouble"];
  const names = path.split("/").toReversed();
  while (names.length > 0) {
    const name = names.pop();
    if (name === undefined || name === "" || name === ".") continue;
    if (name === "..") {
      current = dirname(current);
      continue;
    }
    const next = current === "/" ? `/${name}` : `${current}/${name}`;
    if (OF_A_PROCESS.test(next)) trouble ??= "process";
    const target = linkAt(next, cwd);
    if (target !== undefined && links === 0) trouble ??= "loop";
    if (target === undefined || links === 0) {
      current = next;
      continue;
    }
    links--;
    if (target.startsWith("/")) current = "/";
    names.push(...target.split("/").toReversed());
  }
  return { real: current, ...(trouble !== undefined && { trouble }) };
}

/** These differ in each process: in the agent's own, they lead to its working directory. */
const OF_A_PROCESS =
  /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(?:(?<link>cwd|root)|exe|fd|map_files)(?:$|\/)/;

function linkAt(path: string, cwd: string | undefined): string | undefined {
  const own = OF_A_PROCESS.exec(path)?.groups?.["link"];
  if (own === "root") return "/";
  if (own === "cwd" && cwd !== undefined) return cwd;
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) return readlinkSync(path);
  } catch {
    // Keep unreadable and invalid names as written.
  }
  return undefined;
}
