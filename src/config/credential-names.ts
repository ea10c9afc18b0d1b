import { CREDENTIAL_FILES, CREDENTIALS } from "./variables.ts";

/** What the host proves itself with to a model API, to the cloud that has one, or to another host. */
const NAMES: ReadonlySet<string> = new Set([
  ...CREDENTIALS,
  ...CREDENTIAL_FILES,
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "CAPSTAN_KEY",
]);

/** Whether no agent may refer to a variable. */
export function isCredentialVariable(name: string): boolean {
  return NAMES.has(name);
}
