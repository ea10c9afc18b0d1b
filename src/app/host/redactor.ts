import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Environment } from "../../config/project/home.ts";
import { CREDENTIAL_FILES, CREDENTIALS } from "../../config/variables/variables.ts";
import {
  createRedactor,
  type RedactionPattern,
  type Redactor,
  type Secret,
  secretVariables,
} from "../../core/redaction/redaction.ts";
import { auditKeyPath } from "../audit/audit-key.ts";

/** A redactor that learns: some secrets are known only when they are read. */
export interface HostRedactor extends Redactor {
  /** Also redacts this secret from now on, in derived redactors too. */
  learn(secret: Secret): void;
}

/** Knows this host's credentials by value, in addition to everything that looks like a secret. */
export function hostRedactor(environment: Environment, patterns: readonly RedactionPattern[]): HostRedactor {
  const learned: Secret[] = [...secretVariables(environment), ...credentials(environment)];
  return {
    ...growing(learned, patterns),
    learn(secret) {
      if (!learned.some(({ value }) => value === secret.value)) learned.push(secret);
    },
  };
}

function growing(
  learned: readonly Secret[],
  patterns: readonly RedactionPattern[],
  own: readonly Secret[] = [],
): Redactor {
  let known = -1;
  let made = createRedactor();
  const current = (): Redactor => {
    if (known !== learned.length) made = createRedactor({ secrets: [...learned, ...own], patterns });
    known = learned.length;
    return made;
  };
  return {
    text: (text) => current().text(text),
    event: (event) => current().event(event),
    with: (more) => growing(learned, patterns, [...own, ...more]),
  };
}

/** The files of this host's secrets, including `given`. */
export function secretFiles(home: string, environment: Environment, given: readonly string[] = []): readonly string[] {
  const named = CREDENTIAL_FILES.map((name) => environment[name]?.trim());
  return [auditKeyPath(home, environment), ...named, ...given].flatMap((file) => (file ? [resolve(file)] : []));
}

/** Not all of their names look like those of secrets. */
function credentials(environment: Environment): readonly Secret[] {
  return CREDENTIALS.flatMap((name) => {
    const value = environment[name]?.trim();
    if (!value) return [];
    if (!name.endsWith("_FILE")) return [{ name, value }];
    try {
      return [{ name: name.replace(/_FILE$/, ""), value: readFileSync(value, "utf8") }];
    } catch {
      // The part that needs the credential reports that it cannot be read.
      return [];
    }
  });
}
