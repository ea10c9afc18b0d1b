import { AUTH_PROVIDERS } from "../../core/auth/auth-schema.ts";
import { PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { CREDENTIAL_FILES, CREDENTIALS } from "./variables.ts";

/** The host's credentials for a model API, its cloud, or another host. */
const NAMES: ReadonlySet<string> = new Set([
  ...CREDENTIALS,
  ...CREDENTIAL_FILES,
  ...AUTH_PROVIDERS.flatMap((provider) => PROVIDER_VARIABLES[provider].finders ?? []),
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_SECURITY_TOKEN",
  "CLOUDSDK_AUTH_ACCESS_TOKEN",
  "CAPSTAN_KEY",
  // Credentials of commands that fetch the credential.
  "OP_SERVICE_ACCOUNT_TOKEN",
  "VAULT_TOKEN",
]);

/** Whether agents must not refer to a variable. */
export function isCredentialVariable(name: string): boolean {
  return NAMES.has(name);
}
