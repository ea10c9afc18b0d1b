import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import { isInside } from "../../core/paths/is-inside.ts";
import { CREDENTIAL_PATHS } from "../../core/environment/sandbox.ts";
import type { Environment } from "../project/home.ts";
import { CREDENTIAL_FILES } from "./variables.ts";

/** Files with secrets that variables name, as far as settings know them. */
export function secretFilesOf(environment: Environment): readonly string[] {
  const names = [...CREDENTIAL_FILES, "CAPSTAN_AUDIT_KEY_FILE"];
  return names.flatMap((name) => environment[name]?.trim() || []).map((file) => resolve(file));
}

/**
 * Files that an agent file names are sent to the model and saved. Others may have written the agent file, so it must
 * not name anything that a sandboxed agent could not read. Files next to an agent file in Capstan's own directory are
 * the user's own.
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
    throw new CapstanError("invalid_agent", `${path} is a place for credentials, which an agent file must not name`);
  const stats = statSync(real, { throwIfNoEntry: false });
  // Opening a pipe would wait for its other end. Reading reports a missing file.
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
