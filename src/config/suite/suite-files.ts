import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { isSuiteFile } from "./suite-names.ts";

/** These never contain the user's suites. */
const LEFT_OUT = new Set(["node_modules", ".git", "cassettes", "fixtures"]);

/**
 * The suites that the paths refer to: files as given; for directories, every `*.test.yaml` below, and every agent.yaml
 * with tests.
 */
export function findSuites(paths: readonly string[]): readonly string[] {
  const files = paths.flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined)
      throw new CapstanError("invalid_input", `${path} does not exist. Pass a suite (*.test.yaml) or a directory.`);
    return found.isDirectory() ? suitesBelow(path) : [path];
  });
  if (files.length === 0)
    throw new CapstanError(
      "invalid_input",
      `No suite (*.test.yaml) found in ${paths.join(", ")}. Create one next to the agent, as described in docs/tests.md, or record one from a session: capstan record SESSION`,
    );
  // A file that is given and is also in a given directory counts once.
  return [...Map.groupBy(files, (file) => resolve(file)).values()].flatMap((same) => same.slice(0, 1));
}

function suitesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return LEFT_OUT.has(entry.name) ? [] : suitesBelow(path);
      return entry.isFile() && (isSuiteFile(path) || hasTests(path, entry.name)) ? [path] : [];
    });
}

/** An agent file with `tests:`. Its whole content is read when it runs. */
function hasTests(path: string, name: string): boolean {
  return /^agent\.ya?ml$/.test(name) && /^tests:/m.test(readFileSync(path, "utf8"));
}
