import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import { readOwnBytes } from "../../process/own-files.ts";

/** At most this many bytes of one place are read, so that a turn does not wait. */
const MAX_BYTES = 1_048_576;
const MAX_FILES = 500;
/** Sandboxes create empty files with this mode in place of files that must not be created. */
const STUB_MODE = 0o444;

/** Fingerprints a file, or a directory with everything below it; undefined if it is missing or a sandbox's stub. */
export function fingerprintOf(path: string): string | undefined {
  const parts = partsOf(path, "", { files: 0 });
  return parts.length === 0 ? undefined : createHash("sha256").update(parts.join("\n")).digest("hex");
}

function partsOf(path: string, name: string, seen: { files: number }): readonly string[] {
  const stats = statsOf(path);
  if (stats === undefined || seen.files >= MAX_FILES) return [];
  seen.files += 1;
  if (stats.isDirectory())
    return namesIn(path).flatMap((child) => partsOf(join(path, child), `${name}/${child}`, seen));
  if (stats.isSymbolicLink()) return [`${name} -> ${textOf(() => readlinkSync(path))}`];
  if (!stats.isFile()) return [`${name} ${stats.mode}`];
  if (stats.size === 0 && (stats.mode & 0o777) === STUB_MODE) return [];
  const content =
    stats.size > MAX_BYTES
      ? `${stats.size} ${stats.mtimeMs}`
      : textOf(() => readOwnBytes(path)?.toString("base64") ?? "");
  return [`${name} ${stats.mode} ${content}`];
}

export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}

export function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "unreadable";
  }
}
