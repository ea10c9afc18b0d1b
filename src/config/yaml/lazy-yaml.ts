import { createRequire } from "node:module";
import type * as yaml from "yaml";

type Yaml = typeof yaml;

let loaded: Yaml | undefined;

/**
 * The parser for full YAML. Loaded on first use: most files are read without it, and it takes a twentieth of the time
 * of a command that reads one.
 */
export function allOfYaml(): Yaml {
  loaded ??= createRequire(import.meta.url)("yaml") as Yaml;
  return loaded;
}
