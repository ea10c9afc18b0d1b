/**
 * A path relative to the root of the workspace; each character is one byte of its name on disk (latin1). Names need not
 * be UTF-8 and must round-trip byte for byte; as strings they can be keys and are easy to split.
 */
export type BytePath = string;

/** For display: bytes that are not UTF-8 become U+FFFD. */
export function bytePathText(path: BytePath): string {
  return Buffer.from(path, "latin1").toString("utf8");
}

export function bytePath(path: string): BytePath {
  return Buffer.from(path, "utf8").toString("latin1");
}

/** The path for node:fs, below `root`. */
export function pathOnDisk(root: string, path: BytePath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`, "utf8"), Buffer.from(path, "latin1")]);
}

export function splitNul(output: Buffer): BytePath[] {
  const parts = output.toString("latin1").split("\0");
  parts.pop();
  return parts;
}

export function joinNul(parts: Iterable<string>): Buffer {
  let joined = "";
  for (const part of parts) joined += `${part}\0`;
  return Buffer.from(joined, "latin1");
}

/** `a/b/c` → `a`, `a/b`. */
export function parentsOf(path: BytePath): BytePath[] {
  const parents: BytePath[] = [];
  for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) parents.push(path.slice(0, at));
  return parents;
}

/** The first few for a message, and how many more there are. */
export function listPaths(paths: readonly string[], most = 5): string {
  const more = paths.length - most;
  return paths.slice(0, most).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
