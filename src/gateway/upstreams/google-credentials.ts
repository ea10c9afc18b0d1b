import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { Environment, SecretSource } from "../credentials/secret-source.ts";

export interface GoogleCredentials {
  /** For people. */
  readonly place: string;
  /** A file with credentials; undefined on a Google machine, which has its own. */
  readonly file: string | undefined;
}

/** The application default credentials, where Google's own client looks for them. */
export function googleCredentials(environment: Environment): GoogleCredentials | undefined {
  const named = environment["GOOGLE_APPLICATION_CREDENTIALS"]?.trim();
  if (named) return { place: `GOOGLE_APPLICATION_CREDENTIALS (${named})`, file: named };
  const home = environment["HOME"]?.trim();
  const directory = environment["CLOUDSDK_CONFIG"]?.trim() || (home ? join(home, ".config/gcloud") : undefined);
  const usual = directory === undefined ? undefined : join(directory, "application_default_credentials.json");
  if (usual !== undefined && existsSync(usual)) return { place: usual, file: usual };
  return isGoogleMachine(environment) ? { place: "the service account of this machine", file: undefined } : undefined;
}

/** The whole file, as JSON. Read by us and not by Google's client, which would keep its first content. */
export function googleSource(file: string, onSecret: (value: string) => void): SecretSource {
  return {
    place: file,
    remedy: `The credentials of vertex came from ${file}: run gcloud auth application-default login or put a valid key file there.`,
    isFixed: false,
    leadsOn: true,
    async read() {
      const content = await readFile(file, "utf8").catch((error: unknown) => {
        throw new CapstanError("credential_missing", `The Google credentials cannot be read: ${messageOf(error)}`);
      });
      for (const secret of secretsIn(content, file)) onSecret(secret);
      return content;
    },
  };
}

const SECRET_FIELDS = ["private_key", "refresh_token", "client_secret"];

function secretsIn(content: string, file: string): readonly string[] {
  try {
    const parsed = JSON.parse(content) as Readonly<Record<string, unknown>> | null;
    if (typeof parsed === "object" && parsed !== null)
      return SECRET_FIELDS.map((name) => parsed[name]).filter((value) => typeof value === "string");
  } catch {
    // Reported below, without the secret text.
  }
  throw new CapstanError(
    "credential_missing",
    `${file} is not a file of Google credentials: it must contain a JSON object.`,
  );
}

function isGoogleMachine(environment: Environment): boolean {
  if (environment["K_SERVICE"]?.trim()) return true;
  try {
    return readFileSync("/sys/class/dmi/id/product_name", "utf8").includes("Google");
  } catch {
    return false;
  }
}
