import { isAbsolute, join } from "node:path";
import { CapstanError } from "../../core/errors.ts";

/** A set of environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface HomeDirectory {
  readonly path: string;
  readonly source: string;
}

/** Where all of this user's data is kept: `$CAPSTAN_HOME`, else `$HOME/.capstan`. An empty variable counts as unset. */
export function homeDirectory(environment: Environment): HomeDirectory {
  const chosen = environment["CAPSTAN_HOME"];
  const usual = usualHome(environment);
  // A relative path would mean another directory each time.
  if (chosen && !isAbsolute(chosen))
    throw new CapstanError("invalid_input", `CAPSTAN_HOME must be an absolute path (found ${JSON.stringify(chosen)}).`);
  if (chosen) return { path: chosen, source: "environment CAPSTAN_HOME" };
  if (usual !== undefined) return { path: usual, source: "built in" };
  throw new CapstanError(
    "invalid_input",
    "No home directory to keep sessions in: HOME is not set. Set CAPSTAN_HOME to an absolute path.",
  );
}

/** `$HOME/.capstan`, whether or not it is in use. */
export function usualHome(environment: Environment): string | undefined {
  const home = environment["HOME"];
  return home && isAbsolute(home) ? join(home, ".capstan") : undefined;
}
