import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { isSuiteFile } from "./suite-names.ts";

/** Never anybody's suites. */
const LEFT_OUT = new Set(["node_modules", ".git", "cassettes", "fixtures"]);

/** The suites that the paths name: files as they are, of directories every `*.test.yaml` below, and every agent.yaml with tests. */
export function findSuites(paths: readonly string[]): readonly string[] {
  const files = paths.flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined)
      throw new CapstanError("invalid_input", `There is no ${path}. Name a suite (*.test.yaml) or a directory.`);
    return found.isDirectory() ? suitesBelow(path) : [path];
  });
  if (files.length === 0)
    throw new CapstanError(
      "invalid_input",
      `There is no suite (*.test.yaml) in ${paths.join(", ")}. Write one beside the agent, as in docs/tests.md, or make one of a session: capstan record SESSION`,
    );
  // One that is named, and lies in a directory that is named as well, is one.
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

/** An agent file with `tests:`. Its whole content is read when it is run. */
function hasTests(path: string, name: string): boolean {
  return /^agent\.ya?ml$/.test(name) && /^tests:/m.test(readFileSync(path, "utf8"));
}
