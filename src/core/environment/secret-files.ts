import { type Glob, matchesGlob, parseGlob } from "../paths/glob.ts";

/**
 * File names that projects use for credentials, in any directory. Only names that rarely mean anything else: files that
 * a tool must read to work, such as .npmrc or a public certificate, are not included. docs/sandbox.md lists them.
 */
export const SECRET_NAMES: readonly string[] = [
  ".env",
  ".env.*",
  ".envrc",
  // What a person puts there during a turn is disabled under this name.
  "disabled-by-capstan.env*",
  ".netrc",
  "_netrc",
  ".pgpass",
  ".pypirc",
  ".git-credentials",
  "credentials.json",
  "service-account*.json",
  "id_rsa*",
  "id_dsa*",
  "id_ecdsa*",
  "id_ed25519*",
  "*.key",
  "*key*.pem",
  "*private*.pem",
  "*.p12",
  "*.pfx",
  "*.ppk",
  "*.jks",
  "*.keystore",
];

/** Exceptions: files that are meant to be shown. */
export const PUBLIC_NAMES: readonly string[] = [
  ".env*.example",
  ".env*.sample",
  ".env*.template",
  ".env*.dist",
  "*.pub",
];

const SECRET = SECRET_NAMES.map(parseGlob);
const PUBLIC = PUBLIC_NAMES.map(parseGlob);

/** Whether a file of this name probably contains a credential. A file system may treat `.ENV` as the same file. */
export function isSecretName(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const matches = (glob: Glob): boolean => matchesGlob(glob, name);
  return SECRET.some(matches) && !PUBLIC.some(matches);
}

/** Excludes them from a content search: one ripgrep pattern. It has no exceptions. */
export const NO_SECRETS = `!{${SECRET_NAMES.join(",")}}`;
