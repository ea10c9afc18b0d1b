import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  keptCredentials,
  readStoredCredentials,
  type StoredCredentials,
  storedCredentialsPath,
  storedProviders,
} from "../../config/variables/stored-credentials.ts";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { SecretSource, StoredSecrets } from "../../gateway/credentials/secret-source.ts";

/** Where a secret was saved. */
export type StoredIn = (
  | { readonly in: "keyring" }
  /** `why`: the reason the keyring was not used. */
  | { readonly in: "file"; readonly path: string; readonly why: string }
) & {
  /** What was wrong with the replaced file. */
  readonly wrong?: string;
};

/**
 * The secrets that `capstan auth login` saved in a home. A file lists their providers and contains the secrets that no
 * keyring took.
 */
export function storedSecrets(home: string): StoredSecrets {
  return {
    get providers() {
      return storedProviders(home);
    },
    source: (provider) => (storedProviders(home).includes(provider) ? storedSource(home, provider) : undefined),
  };
}

function storedSource(home: string, provider: AuthProvider): SecretSource {
  const again = `capstan auth login --provider ${provider}`;
  const { in: place } = readStoredCredentials(home)[provider] ?? {};
  return {
    place: place === "keyring" ? "the keyring" : storedCredentialsPath(home),
    remedy: `The credential of ${provider} was stored by login: run ${again} with a valid one.`,
    isFixed: false,
    async read() {
      const stored = readStoredCredentials(home)[provider];
      if (stored?.in === "file") return stored.secret;
      const secret =
        stored === undefined ? null : await (await keyring(home, provider)).getPassword().catch(unreadable(again));
      if (secret !== null && secret !== undefined) return secret;
      throw new CapstanError(
        "credential_missing",
        `The saved credential of ${provider} no longer exists. Run ${again}`,
      );
    },
  };
}

function unreadable(again: string): (error: unknown) => never {
  return (error) => {
    throw new CapstanError(
      "credential_missing",
      `The keyring cannot be read: ${messageOf(error)}. Unlock it, or run ${again}`,
      { cause: error },
    );
  };
}

/** Saves a secret in the keyring or, if there is none, in a file that only the user can read. */
export async function storeSecret(home: string, provider: AuthProvider, secret: string): Promise<StoredIn> {
  // First, because a secret in the keyring without an entry in the file would be lost.
  const { kept, ...found } = keptCredentials(home);
  const why = await inKeyring(home, provider, secret);
  write(home, { ...kept, [provider]: why === undefined ? { in: "keyring" } : { in: "file", secret } });
  return why === undefined
    ? { in: "keyring", ...found }
    : { in: "file", path: storedCredentialsPath(home), why, ...found };
}

/** Why it could not be saved there; undefined if it was. */
async function inKeyring(home: string, provider: AuthProvider, secret: string): Promise<string | undefined> {
  try {
    await (await keyring(home, provider)).setPassword(secret);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

/** Returns false if nothing was saved. */
export async function forgetSecret(home: string, provider: AuthProvider): Promise<boolean> {
  const { [provider]: stored, ...others } = readStoredCredentials(home);
  if (stored === undefined) return false;
  if (stored.in === "keyring") await (await keyring(home, provider)).deletePassword();
  write(home, others);
  return true;
}

interface KeyringEntry {
  getPassword(): Promise<string | null | undefined>;
  setPassword(secret: string): Promise<void>;
  deletePassword(): Promise<boolean>;
}

/** Loaded on demand, and missing on platforms that it was not built for. */
async function keyring(home: string, provider: AuthProvider): Promise<KeyringEntry> {
  const { AsyncEntry } = await import("@napi-rs/keyring");
  // Not the kernel's keyring, which is cleared when the machine restarts.
  return new AsyncEntry("capstan", `${provider} (${home})`, { linux: { store: "secret-service" } });
}

/** Atomic, so that a crash leaves either the old or the new file. */
function write(home: string, stored: StoredCredentials): void {
  const path = storedCredentialsPath(home);
  if (Object.keys(stored).length === 0) return rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600, flush: true });
  // A leftover file of that name keeps its permissions.
  chmodSync(partial, 0o600);
  renameSync(partial, path);
}
