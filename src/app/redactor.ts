import { readFileSync } from "node:fs";
import type { Environment } from "../config/home.ts";
import { CREDENTIALS } from "../config/variables.ts";
import {
  createRedactor,
  type RedactionPattern,
  type Redactor,
  type Secret,
  secretVariables,
} from "../core/redaction.ts";

/** Knows the credentials of this host by their values, beside everything that looks like a secret. */
export function hostRedactor(environment: Environment, patterns: readonly RedactionPattern[]): Redactor {
  return createRedactor({ secrets: [...secretVariables(environment), ...credentialFiles(environment)], patterns });
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
