import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { isInside } from "../../core/paths/inside.ts";
import { CREDENTIAL_PATHS } from "../../core/environment/sandbox.ts";
import type { Environment } from "../project/home.ts";
import { CREDENTIAL_FILES } from "./variables.ts";

/** Files that variables name, as far as settings know them, and that hold a secret. */
export function secretFilesOf(environment: Environment): readonly string[] {
  const names = [...CREDENTIAL_FILES, "CAPSTAN_AUDIT_KEY_FILE"];
  return names.flatMap((name) => environment[name]?.trim() || []).map((file) => resolve(file));
}

/**
 * What an agent file names is told to the model and stored. Others may have written it, so it may name nothing that an
 * agent in a sandbox could not read. What lies beside an agent file in Capstan's own directory is the user's own.
 */
export function requireOpenFile(path: string, agentFile: string, environment: Environment): void {
  const real = realOf(path);
  const home = environment["HOME"] || homedir();
  const own = realOf(environment["CAPSTAN_HOME"] || join(home, ".capstan"));
  const closed = [
    ...(isInside(realOf(agentFile), own) ? [join(own, "credentials.json")] : [own]),
    ...CREDENTIAL_PATHS.map((place) => join(home, place)),
    ...secretFilesOf(environment),
  ];
  if (closed.some((place) => isInside(real, realOf(place))))
    throw new CapstanError("invalid_agent", `${path} is where credentials are kept, which no agent file may name`);
  const stats = statSync(real, { throwIfNoEntry: false });
  // Nobody waits for the other end of a pipe of that name. What is not there, reading will tell.
  if (stats !== undefined && !stats.isFile() && !stats.isDirectory())
    throw new CapstanError("invalid_agent", `${path} is neither a file nor a directory`);
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
