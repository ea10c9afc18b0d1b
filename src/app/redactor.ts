import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "../config/home.ts";
import { CREDENTIALS } from "../config/variables.ts";
import {
  createRedactor,
  type RedactionPattern,
  type Redactor,
  type Secret,
  secretVariables,
} from "../core/redaction.ts";
import { auditKeyPath } from "./audit-key.ts";

/** Knows the credentials of this host by their values, beside everything that looks like a secret. */
export function hostRedactor(environment: Environment, patterns: readonly RedactionPattern[]): Redactor {
  return createRedactor({ secrets: [...secretVariables(environment), ...credentialFiles(environment)], patterns });
}

/** Where the secrets of this host lie, those in `given` among them. */
export function secretFiles(home: string, environment: Environment, given: readonly string[] = []): readonly string[] {
  const credentials = CREDENTIALS.filter((name) => name.endsWith("_FILE")).map((name) => environment[name]?.trim());
  return [auditKeyPath(home, environment), ...credentials, ...given].flatMap((file) => (file ? [resolve(file)] : []));
}

function credentialFiles(environment: Environment): readonly Secret[] {
  return CREDENTIALS.filter((name) => name.endsWith("_FILE")).flatMap((name) => {
    const file = environment[name]?.trim();
    if (!file) return [];
    try {
      return [{ name: name.replace(/_FILE$/, ""), value: readFileSync(file, "utf8") }];
    } catch {
      // Whoever needs the credential says that it cannot be read.
      return [];
    }
  });
}
