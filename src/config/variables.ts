import { join } from "node:path";
import { CapstanError } from "../core/errors.ts";
import { readDotEnv } from "./dot-env.ts";
import type { Environment } from "./home.ts";

/** A variable that is set, and where. Its value is nobody's business. */
export interface SetVariable {
  readonly name: string;
  /** `shell`, or the path of the `.env` file. */
  readonly source: string;
}

export interface Variables {
  /** The shell's variables over those of the project's `.env`. */
  readonly environment: Environment;
  /** The credentials that are set, the one that is used first. */
  readonly credentials: readonly SetVariable[];
  /** Where the model API's address was set; undefined when it was not. */
  readonly address: SetVariable | undefined;
}

/** As gateway/upstreams.ts looks for them: the first one that is set is used. */
export const CREDENTIALS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"].flatMap((name) => [
  name,
  `${name}_FILE`,
]);
const ADDRESS = "ANTHROPIC_BASE_URL";

/** The shell wins, also with an empty variable. */
export function readVariables(shell: Environment, root: string | undefined): Variables {
  const file = root === undefined ? undefined : join(root, ".env");
  const written = file === undefined ? {} : readDotEnv(file);
  const given = Object.fromEntries(Object.entries(shell).filter(([, value]) => value !== undefined));
  const environment: Environment = { ...written, ...given };
  const setVariable = (name: string): SetVariable[] =>
    environment[name]?.trim() ? [{ name, source: Object.hasOwn(given, name) ? "shell" : (file ?? "shell") }] : [];

  for (const name of ["CAPSTAN_HOME", "CAPSTAN_AUDIT_KEY_FILE"])
    if (Object.hasOwn(written, name) && !given[name])
      throw new CapstanError("invalid_input", `${name} cannot be set in ${file}. Set it in the shell.`);
  const credentials = CREDENTIALS.flatMap(setVariable);
  const [address] = setVariable(ADDRESS);
  refuseTheft(credentials[0], address);
  return { environment, credentials, address };
}

/**
 * Whoever wrote a project's `.env` must not get the user's own credential by naming the address it is sent to. A file
 * that `.env` names may be the user's own, too.
 */
function refuseTheft(credential: SetVariable | undefined, address: SetVariable | undefined): void {
  if (credential === undefined || address === undefined || address.source === "shell") return;
  if (credential.source === address.source && !credential.name.endsWith("_FILE")) return;
  throw new CapstanError(
    "invalid_input",
    `${address.source} sets ${ADDRESS}, but ${credential.name} is not written there: a project must not choose where ` +
      `your credential is sent. Set ${ADDRESS} in the shell if you trust that address.`,
    { data: { file: address.source, credential: credential.name } },
  );
}
