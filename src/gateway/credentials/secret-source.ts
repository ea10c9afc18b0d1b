import { readFile } from "node:fs/promises";
import type { AuthProvider, AuthSettings } from "../../core/auth/auth-schema.ts";
import { PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { runCredentialCommand } from "./credential-command.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a secret comes from. It is read when needed, and again after it was refused. */
export interface SecretSource {
  /** For people, such as `ANTHROPIC_API_KEY` or `the keyring`. */
  readonly place: string;
  /** What to do if the secret is refused. */
  readonly remedy: string;
  /** It can't change while this process runs. */
  readonly isFixed: boolean;
  /** Reading it runs a command, which takes time and may prompt the user. */
  readonly isCommand?: boolean;
  /**
   * It only refers to the actual credential, such as a token in another file, which may change while this stays the
   * same.
   */
  readonly leadsOn?: boolean;
  /** Rejects with `credential_missing`; the message never contains the secret. */
  read(): Promise<string>;
}

/** The secrets saved by `capstan auth login`. */
export interface StoredSecrets {
  readonly providers: readonly AuthProvider[];
  source(provider: AuthProvider): SecretSource | undefined;
}

/** A project's `.env`, which others may have written. */
export interface DotEnv {
  readonly path: string;
  /** The variables it set: those that the shell does not have. */
  readonly names: readonly string[];
}

/** Everything that determines credentials. */
export interface CredentialSettings {
  readonly environment: Environment;
  /** From the user's settings. */
  readonly auth?: AuthSettings | undefined;
  readonly stored?: StoredSecrets | undefined;
  readonly dotEnv?: DotEnv | undefined;
  /** Called for every secret that is read, so that it can be redacted. */
  readonly onSecret?: ((secret: { readonly name: string; readonly value: string }) => void) | undefined;
}

/** The source of a provider's secret: variable, file, command, login. Undefined: none of them has it. */
export function secretSource(provider: AuthProvider, settings: CredentialSettings): SecretSource | undefined {
  const { secret: name } = PROVIDER_VARIABLES[provider];
  const source = name === undefined ? undefined : sourceOf(provider, name, settings);
  if (source === undefined || name === undefined) return undefined;
  return {
    ...source,
    async read() {
      const value = checkSecret(await source.read(), source.place);
      settings.onSecret?.({ name, value });
      return value;
    },
  };
}

function sourceOf(provider: AuthProvider, name: string, settings: CredentialSettings): SecretSource | undefined {
  const { environment, auth = {}, stored } = settings;
  const direct = environment[name]?.trim();
  if (direct) return variableSource(name, direct, { provider, settings });
  const file = environment[`${name}_FILE`]?.trim();
  if (file) return fileSource(`${name}_FILE`, file, provider);
  if (auth.credential_command !== undefined && auth.provider === provider)
    return commandSource(auth.credential_command, { provider, settings });
  return stored?.source(provider);
}

function variableSource(
  name: string,
  value: string,
  { provider, settings: { dotEnv } }: { provider: AuthProvider; settings: CredentialSettings },
): SecretSource {
  const isOfFile = dotEnv?.names.includes(name) === true;
  return {
    place: isOfFile ? `${name} in ${dotEnv.path}` : name,
    remedy: isOfFile
      ? `The credential of ${provider} came from ${name} in ${dotEnv.path}: correct it there and restart Capstan.`
      : `The credential of ${provider} came from the variable ${name}, which cannot change while this program runs: set a valid one and restart Capstan, or unset it and run capstan auth login --provider ${provider}.`,
    isFixed: true,
    read: async () => value,
  };
}

function fileSource(name: string, file: string, provider: AuthProvider): SecretSource {
  return {
    place: `${name} (${file})`,
    remedy: `The credential of ${provider} came from the file ${file} (${name}): put a valid one there.`,
    isFixed: false,
    async read() {
      const content = await readFile(file, "utf8").catch((error: unknown) => {
        throw missing(`${name} names a file that cannot be read: ${messageOf(error)}`);
      });
      if (content.trim() === "") throw missing(`${name} names an empty file: ${file}`);
      return content.trim();
    },
  };
}

function commandSource(
  command: string,
  { provider, settings: { environment, dotEnv } }: { provider: AuthProvider; settings: CredentialSettings },
): SecretSource {
  // A project's file must not change what the user's command does.
  const own = Object.fromEntries(Object.entries(environment).filter(([name]) => dotEnv?.names.includes(name) !== true));
  return {
    place: "auth.credential_command",
    remedy: `The credential of ${provider} came from auth.credential_command in your settings: make sure that the command prints a valid one.`,
    isFixed: false,
    isCommand: true,
    read: () => runCredentialCommand(command, own),
  };
}

/** Refused here, because Node would refuse such a header only at the first request. */
function checkSecret(secret: string, place: string): string {
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw missing(`${place} contains characters that are not allowed in a credential.`);
  return secret;
}

function missing(message: string): CapstanError {
  return new CapstanError("credential_missing", message);
}
