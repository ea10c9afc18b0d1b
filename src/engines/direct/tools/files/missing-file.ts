import { readdirSync } from "node:fs";
import { dirname, extname, basename } from "node:path";
import { isInside } from "../../../../core/paths/is-inside.ts";
import { PinnedDirectory } from "../../../../process/pinned.ts";

/** The message for a missing file. Suggests a file with the same name and another extension. */
export function missingFile(real: string, cwd: string): string {
  const meant = isInside(real, cwd) ? sameStem(real) : undefined;
  const hint = meant === undefined ? "" : ` Did you mean ${meant}?`;
  return `File does not exist. Note: your current working directory is ${cwd}.${hint}`;
}

function sameStem(real: string): string | undefined {
  try {
    using parent = PinnedDirectory.open(dirname(real));
    return readdirSync(parent.at(".")).find((name) => stem(name) === stem(real));
  } catch {
    // The directory does not exist either.
    return undefined;
  }
}

function stem(path: string): string {
  return basename(path, extname(path));
}
