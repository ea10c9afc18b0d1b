import type { AuthSettings } from "../../core/auth/auth-schema.ts";
import type { Secret } from "../../core/redaction/redaction.ts";
import type { CredentialSettings, DotEnv, Environment } from "../../gateway/credentials/secret-source.ts";
import { storedSecrets } from "./credential-store.ts";

/** Where a host finds its model credentials. */
export interface CredentialOptions {
  readonly home: string;
  readonly environment: Environment;
  /** As in the user's settings. */
  readonly auth?: AuthSettings | undefined;
  /** The variables that came from a project's `.env`. */
  readonly dotEnv?: DotEnv | undefined;
}

/** Adds saved logins, in the gateway's format. */
export function credentialSettings(
  { home, environment, auth, dotEnv }: CredentialOptions,
  onSecret?: (secret: Secret) => void,
): CredentialSettings {
  return { environment, auth, dotEnv, stored: storedSecrets(home), onSecret };
}
