import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Every file below a directory but git's own: path → permission bits and content, or where a link leads. */
export function treeOf(directory: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const walk = (relative: string): void => {
    for (const entry of readdirSync(join(directory, relative), { withFileTypes: true })) {
      const path = join(relative, entry.name);
      if (entry.name === ".git") continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isSymbolicLink()) found[path] = `-> ${readlinkSync(join(directory, path))}`;
      else {
        const mode = (lstatSync(join(directory, path)).mode & 0o7777).toString(8);
        found[path] = `${mode} ${readFileSync(join(directory, path)).toString("base64")}`;
      }
    }
  };
  walk("");
  return found;
}
