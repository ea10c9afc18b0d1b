import { text } from "node:stream/consumers";
import { forgetSecret, storedSecrets, storeSecret } from "../../app/credentials/credential-store.ts";
import { homeDirectory } from "../../config/project/home.ts";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { PROVIDER_VARIABLES, secretNames } from "../../core/auth/auth-variables.ts";
import { usage } from "../terminal/failure.ts";

export interface LoginFlags {
  readonly provider: AuthProvider;
}

export async function login({ provider }: LoginFlags): Promise<void> {
  const { secret: name } = PROVIDER_VARIABLES[provider];
  if (name === undefined)
    throw usage(`There is no key to store for ${provider}. Run gcloud auth application-default login.`);
  const { path: home } = homeDirectory(process.env);
  const secret = checked(process.stdin.isTTY ? await ask(provider) : (await text(process.stdin)).trim(), provider);
  const stored = await storeSecret(home, provider, secret);
  if (stored.wrong !== undefined) process.stderr.write(`capstan: ${stored.wrong}\n`);
  if (stored.in === "file")
    process.stderr.write(`capstan: The system's keyring cannot be used (${stored.why}); a file is used instead.\n`);
  const place =
    stored.in === "keyring" ? "in the system's keyring" : `in ${stored.path}, which only you can read (mode 0600)`;
  print(`Stored for ${provider} ${place}. Check it with capstan auth test --provider ${provider}`);
  const first = secretNames(provider).find((variable) => process.env[variable]?.trim());
  if (first !== undefined)
    process.stderr.write(`capstan: ${first} is set and comes first; unset it to use what was stored.\n`);
}

/** Nothing that is typed is shown. */
async function ask(provider: AuthProvider): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const given = await password({ message: `Key or token for ${provider} (it is not shown)`, mask: "" });
  if (isCancel(given)) throw usage("Nothing was stored.");
  return given.trim();
}

/** How Anthropic's own secrets begin, and whose they are. */
const BEGINNINGS: readonly (readonly [beginning: string, provider: AuthProvider])[] = [
  ["sk-ant-oat", "oauth_token"],
  ["sk-ant-api", "api_key"],
];

/** A mistake here would only be noticed by a refusal later. The secret is never repeated. */
function checked(secret: string, provider: AuthProvider): string {
  if (secret === "") throw usage("Nothing was given, so nothing was stored. Type or pipe in the key or token.");
  if (!/^[\x21-\x7e]+$/.test(secret)) throw usage("That holds characters that no credential has. Nothing was stored.");
  const [, of = provider] = BEGINNINGS.find(([beginning]) => secret.startsWith(beginning)) ?? [];
  // A gateway of one's own may take either.
  if (of !== provider && provider !== "auth_token")
    throw usage(`That looks like the secret of ${of}. Nothing was stored. Run capstan auth login --provider ${of}`);
  return secret;
}

export interface LogoutFlags {
  readonly provider?: AuthProvider;
}

export async function logout({ provider }: LogoutFlags): Promise<void> {
  const { path: home } = homeDirectory(process.env);
  const wanted = provider === undefined ? storedSecrets(home).providers : [provider];
  if (wanted.length === 0) return print("Nothing is stored.");
  for (const one of wanted) {
    const isForgotten = await forgetSecret(home, one);
    print(isForgotten ? `What was stored for ${one} is forgotten.` : `Nothing is stored for ${one}.`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
