import { statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { AUTH_PROVIDERS, type AuthProvider, authProvider } from "../../core/auth/auth-schema.ts";
import { CapstanError } from "../../core/errors.ts";
import { isThere, readTextFile } from "../yaml/text-file.ts";

/** What `capstan auth login` saved for one provider: the secret itself, or that the system's keyring has it. */
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

/** By provider; none if nobody logged in. Refuses a file that others can read, because they may have the secrets. */
export function readStoredCredentials(home: string): StoredCredentials {
  const { path, isOpen, content } = fileOf(home);
  if (isOpen)
    throw new CapstanError("credential_missing", `${path} can be read by others. Run: chmod 600 ${path}`, {
      data: { file: path },
    });
  if (content !== undefined) return content;
  // Does not repeat the content, which may be a secret.
  throw new CapstanError(
    "invalid_input",
    `${path} was not written by capstan auth login. Remove it, and run capstan auth login again.`,
    { data: { file: path } },
  );
}

/** What can be kept when the file is rewritten, and what was wrong with it, for the user. */
export function keptCredentials(home: string): { readonly kept: StoredCredentials; readonly wrong?: string } {
  const { path, isOpen, content } = fileOf(home);
  if (content === undefined)
    return {
      kept: {},
      wrong: `${path} was damaged and is replaced. Log in again for any other providers that were saved there.`,
    };
  if (!isOpen) return { kept: content };
  return { kept: content, wrong: `${path} could be read by others and is replaced. They may know its secrets.` };
}

/** `content` is undefined if login did not write it. */
function fileOf(home: string): { path: string; isOpen: boolean; content: StoredCredentials | undefined } {
  const path = storedCredentialsPath(home);
  if (!isThere(path)) return { path, isOpen: false, content: {} };
  const text = readTextFile(path, { what: "the stored credentials", code: "invalid_input" });
  const isOpen = (statSync(path).mode & OTHERS) !== 0;
  return { path, isOpen, content: storedCredentials.safeParse(parseJson(text)).data };
}

/** The providers with a saved credential. */
export function storedProviders(home: string): readonly AuthProvider[] {
  const stored = readStoredCredentials(home);
  return AUTH_PROVIDERS.filter((provider) => stored[provider] !== undefined);
}

/** The same for callers that only list it. Undefined: it can't be read; callers that need a credential report that. */
export function namedProviders(home: string): readonly AuthProvider[] | undefined {
  try {
    return storedProviders(home);
  } catch (thrown) {
    if (thrown instanceof CapstanError) return undefined;
    throw thrown;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
