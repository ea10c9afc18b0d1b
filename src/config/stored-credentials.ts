import { statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { AUTH_PROVIDERS, type AuthProvider, authProvider } from "../core/auth-schema.ts";
import { CapstanError } from "../core/errors.ts";
import { isThere, readTextFile } from "./text-file.ts";

/** What `capstan auth login` stored for one provider: the secret itself, or that the system's keyring has it. */
const storedCredential = z.discriminatedUnion("in", [
  z.strictObject({ in: z.literal("keyring") }),
  z.strictObject({ in: z.literal("file"), secret: z.string().min(1) }),
]);
const storedCredentials = z.partialRecord(authProvider, storedCredential);

export type StoredCredentials = z.infer<typeof storedCredentials>;

export function storedCredentialsPath(home: string): string {
  return join(home, "credentials.json");
}

const OTHERS = 0o077;

/** By provider; none when nobody logged in. Refuses a file that others may read: whoever could has the secrets. */
export function readStoredCredentials(home: string): StoredCredentials {
  const path = storedCredentialsPath(home);
  if (!isThere(path)) return {};
  const text = readTextFile(path, { what: "the stored credentials", code: "invalid_input" });
  if ((statSync(path).mode & OTHERS) !== 0)
    throw new CapstanError("credential_missing", `${path} can be read by others. Run: chmod 600 ${path}`, {
      data: { file: path },
    });
  const parsed = storedCredentials.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  // What it says is not repeated: it may be a secret.
  throw new CapstanError(
    "invalid_input",
    `${path} is not what capstan auth login writes. Remove it, and run capstan auth login again.`,
    { data: { file: path } },
  );
}

/** For whom there is something. */
export function storedProviders(home: string): readonly AuthProvider[] {
  const stored = readStoredCredentials(home);
  return AUTH_PROVIDERS.filter((provider) => stored[provider] !== undefined);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
