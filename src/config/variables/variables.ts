import { join } from "node:path";
import { AUTH_PROVIDERS, type AuthProvider, type AuthSettings } from "../../core/auth/auth-schema.ts";
import { chosenProvider, secretNames } from "../../core/auth/auth-variables.ts";
import { CapstanError } from "../../core/errors.ts";
import { readDotEnv } from "./dot-env.ts";
import type { Environment } from "../project/home.ts";
import { notingReads } from "../yaml/text-file.ts";

/** Something that is set, and where. Never contains its value. */
export interface SetVariable {
  readonly name: string;
  /** `shell`, or the path of a file: a project's `.env`, settings, or a saved login. */
  readonly source: string;
}

export interface ReadDotEnv {
  readonly path: string;
  readonly names: readonly string[];
  /** Untrusted variables: they have no effect, but their secrets stay secret. */
  readonly unused?: Readonly<Record<string, string>>;
}

export interface Variables {
  /** The shell's variables over those of the project's `.env`. */
  readonly environment: Environment;
  /** The project's `.env` and which of the variables it set; undefined without a project. */
  readonly dotEnv: ReadDotEnv | undefined;
  /** Where the model API's address was set; undefined if it was not. */
  readonly address: SetVariable | undefined;
  /** The content of all files that were read. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** The variables that contain a provider's secret, or name a file with it. */
export const CREDENTIALS = AUTH_PROVIDERS.flatMap(secretNames);
/** The variables that name a file with a secret. */
export const CREDENTIAL_FILES = [
  ...CREDENTIALS.filter((name) => name.endsWith("_FILE")),
  "GOOGLE_APPLICATION_CREDENTIALS",
];
const ADDRESS = "ANTHROPIC_BASE_URL";

/** The shell wins, even with an empty variable. */
export function readVariables(shell: Environment, root: string | undefined): Variables {
  const path = root === undefined ? undefined : join(root, ".env");
  const { value: written, files } = notingReads(() => (path === undefined ? {} : readDotEnv(path)));
  const given = Object.fromEntries(Object.entries(shell).filter(([, value]) => value !== undefined));

  for (const name of ["CAPSTAN_HOME", "CAPSTAN_AUDIT_KEY_FILE"])
    if (Object.hasOwn(written, name) && !given[name])
      throw new CapstanError("invalid_input", `${name} cannot be set in ${path}. Set it in the shell.`);
  const names = Object.keys(written).filter((name) => !Object.hasOwn(given, name));
  return withAddress({
    environment: { ...written, ...given },
    dotEnv: path === undefined ? undefined : { path, names },
    files,
  });
}

/** The shell's alone. */
export function withoutDotEnv({ environment, dotEnv, files }: Variables): Variables {
  const isUnused = (name: string): boolean => dotEnv?.names.includes(name) === true;
  const left = Object.entries(environment).filter(([name]) => !isUnused(name));
  // A file named there is not read for a secret: the name may be anything.
  const unused = Object.entries(environment).flatMap(([name, value]) =>
    isUnused(name) && value !== undefined && !name.endsWith("_FILE") ? [[name, value]] : [],
  );
  return withAddress({
    environment: Object.fromEntries(left),
    dotEnv: dotEnv && { path: dotEnv.path, names: [], unused: Object.fromEntries(unused) },
    files,
  });
}

function withAddress(variables: Omit<Variables, "address">): Variables {
  return { ...variables, address: setVariables(variables, [ADDRESS])[0] };
}

function setVariables(
  { environment, dotEnv }: Pick<Variables, "environment" | "dotEnv">,
  names: readonly string[],
): SetVariable[] {
  return names
    .filter((name) => environment[name]?.trim())
    .map((name) => ({ name, source: dotEnv?.names.includes(name) === true ? dotEnv.path : "shell" }));
}

/** Variables that choose a cloud or authenticate to it. If it is not chosen, they serve other purposes. */
const CLOUD_VARIABLES: Readonly<Partial<Record<AuthProvider, readonly string[]>>> = {
  bedrock: ["AWS_ACCESS_KEY_ID", "AWS_PROFILE", "CLAUDE_CODE_USE_BEDROCK"],
  vertex: ["GOOGLE_APPLICATION_CREDENTIALS", "CLAUDE_CODE_USE_VERTEX"],
  foundry: ["CLAUDE_CODE_USE_FOUNDRY"],
};

/** Credentials besides variables. */
export interface OtherCredentials {
  readonly auth: AuthSettings;
  /** The file that contains `auth`. */
  readonly settingsPath: string;
  /** Undefined: the saved login can't be read. */
  readonly stored: readonly AuthProvider[] | undefined;
  readonly storedPath: string;
}

/** All available credentials; those of the provider in use come first. */
export function credentialsOf(variables: Variables, others: OtherCredentials): readonly SetVariable[] {
  const { auth, settingsPath, stored, storedPath } = others;
  const { environment, dotEnv } = variables;
  const chosen = chosenProvider({ environment, auth, stored: stored ?? [], dotEnv: dotEnv?.names });
  const cloud = chosen === undefined ? undefined : CLOUD_VARIABLES[chosen];
  const plain = AUTH_PROVIDERS.filter((provider) => CLOUD_VARIABLES[provider] === undefined);
  const providers = new Set(chosen === undefined ? plain : [chosen, ...plain]);
  const ofSettings = [
    ...(auth.credential_command === undefined ? [] : ["auth.credential_command"]),
    ...(cloud === undefined || auth.provider === undefined ? [] : ["auth.provider"]),
  ];
  return [
    ...setVariables(variables, [...[...providers].flatMap(secretNames), ...(cloud ?? [])]),
    ...ofSettings.map((name) => ({ name, source: settingsPath })),
    ...(stored?.map((provider) => `${provider} by login`) ?? ["a login that cannot be read"]).map((name) => ({
      name,
      source: storedPath,
    })),
  ];
}
