import { lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";

/** As many as the kernel follows. */
const MAX_LINKS = 40;

export interface Way {
  readonly real: string;
  /** Why nobody can say where it leads: links in a circle, or a link that is another one in every process. */
  readonly trouble?: "loop" | "process";
}

/** Where an absolute path leads; see `followPath`. */
export function realPath(path: string, cwd?: string): string {
  return followPath(path, cwd).real;
}

/**
 * Where an absolute path leads, link by link as the kernel goes: `..` after a link is the parent of where it leads, and
 * a link to what does not exist yet leads there all the same. What is not there is taken as it is written.
 */
export function followPath(path: string, cwd?: string): Way {
  let links = MAX_LINKS;
  let current = "/";
  let trouble: Way["trouble"];
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

/** These lead elsewhere for every process: for the agent's own, to where it works. */
const OF_A_PROCESS =
  /^\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(?:(?<link>cwd|root)|exe|fd|map_files)(?:$|\/)/;

function linkAt(path: string, cwd: string | undefined): string | undefined {
  const own = OF_A_PROCESS.exec(path)?.groups?.["link"];
  if (own === "root") return "/";
  if (own === "cwd" && cwd !== undefined) return cwd;
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) return readlinkSync(path);
  } catch {
    // What this user may not look at, or what is no name at all, is taken as it is written.
  }
  return undefined;
}
