import { text } from "node:stream/consumers";
import { forgetSecret, storedSecrets, storeSecret } from "../../app/credentials/credential-store.ts";
import { homeDirectory } from "../../config/project/home.ts";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { PROVIDER_VARIABLES, secretNames } from "../../core/auth/auth-variables.ts";
import { usageError } from "../terminal/failure.ts";

export interface LoginFlags {
  readonly provider: AuthProvider;
}

export async function login({ provider }: LoginFlags): Promise<void> {
  const { secret: name } = PROVIDER_VARIABLES[provider];
  if (name === undefined)
    throw usageError(`${provider} uses no key. Run gcloud auth application-default login instead.`);
  const { path: home } = homeDirectory(process.env);
  const secret = requireSecret(
    process.stdin.isTTY ? await ask(provider) : (await text(process.stdin)).trim(),
    provider,
  );
  const stored = await storeSecret(home, provider, secret);
  if (stored.wrong !== undefined) process.stderr.write(`capstan: ${stored.wrong}\n`);
  if (stored.in === "file")
    process.stderr.write(`capstan: The system keyring is not available (${stored.why}). Using a file instead.\n`);
  const place =
    stored.in === "keyring" ? "in the system keyring" : `in ${stored.path}, which only you can read (mode 0600)`;
  print(`Saved for ${provider} ${place}. To test it: capstan auth test --provider ${provider}`);
  const first = secretNames(provider).find((variable) => process.env[variable]?.trim());
  if (first !== undefined)
    process.stderr.write(`capstan: ${first} is set and takes precedence. Unset it to use the saved credential.\n`);
}

/** Hides what is typed. */
async function ask(provider: AuthProvider): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const given = await password({ message: `Key or token for ${provider} (hidden)`, mask: "" });
  if (isCancel(given)) throw usageError("Canceled. Nothing was saved.");
  return given.trim();
}

/** Prefixes of Anthropic's secrets, and their providers. */
const PREFIXES: readonly (readonly [prefix: string, provider: AuthProvider])[] = [
  ["sk-ant-oat", "oauth_token"],
  ["sk-ant-api", "api_key"],
];

/** Catches mistakes that would otherwise surface at the first request. Never prints the secret. */
function requireSecret(secret: string, provider: AuthProvider): string {
  if (secret === "") throw usageError("The input is empty, so nothing was saved. Type or pipe in the key or token.");
  if (!/^[\x21-\x7e]+$/.test(secret))
    throw usageError(
      "The input contains characters that no credential has, so nothing was saved. Copy the key or token again.",
    );
  const [, of = provider] = PREFIXES.find(([prefix]) => secret.startsWith(prefix)) ?? [];
  // A user's own gateway may accept either.
  if (of !== provider && provider !== "auth_token")
    throw usageError(
      `This looks like a credential for ${of}, so nothing was saved. Run: capstan auth login --provider ${of}`,
    );
  return secret;
}

export interface LogoutFlags {
  readonly provider?: AuthProvider;
}

export async function logout({ provider }: LogoutFlags): Promise<void> {
  const { path: home } = homeDirectory(process.env);
  const wanted = provider === undefined ? storedSecrets(home).providers : [provider];
  if (wanted.length === 0) return print("No saved credentials.");
  for (const one of wanted) {
    const isRemoved = await forgetSecret(home, one);
    print(isRemoved ? `Credential for ${one} removed.` : `No saved credential for ${one}.`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
