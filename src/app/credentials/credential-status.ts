import { AUTH_PROVIDERS, type AuthProvider } from "../../core/auth/auth-schema.ts";
import { ignoredSwitches, PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { messageOf } from "../../core/errors.ts";
import { requireClient } from "../../gateway/upstreams/client-package.ts";
import { checkAddress } from "../../gateway/upstreams/provider-address.ts";
import { requirementsOf } from "../../gateway/upstreams/requirements.ts";
import { type CredentialSettings, secretSource } from "../../gateway/credentials/secret-source.ts";
import { choiceOf, defaultProvider } from "../../gateway/upstreams/upstreams.ts";
import type { ShownCredential } from "../../server/api/deps.ts";
import { type CredentialOptions, credentialSettings } from "./credential-settings.ts";

/** What is known of one way to a model. Never holds a secret. */
export interface ProviderStatus {
  readonly provider: AuthProvider;
  readonly title: string;
  /** Sessions use it whose agent names none. */
  readonly isDefault: boolean;
  /** Nothing is missing. Whether it is valid is known to the provider alone. */
  readonly isComplete: boolean;
  readonly found: readonly { readonly what: string; readonly where: string }[];
  readonly missing: readonly { readonly what: string; readonly how: string }[];
  /** The last characters of the secret, where it is long enough to keep the rest to itself. */
  readonly ends?: string;
  /** Why the secret cannot be read, the address not be used, or a client is not installed. */
  readonly problem?: string;
  /** What was set and does not count. */
  readonly ignored?: string;
}

/** Every provider, in the order in which they are looked for. Runs no command, and asks nobody. */
export async function providerStatuses(options: CredentialOptions): Promise<readonly ProviderStatus[]> {
  const settings = credentialSettings(options);
  const chosen = defaultProvider(settings);
  const ignored = ignoredSwitches(choiceOf(settings));
  return Promise.all(
    AUTH_PROVIDERS.map(async (provider): Promise<ProviderStatus> => {
      const requirements = requirementsOf(provider, settings);
      const found = requirements.flatMap(({ what, found: where }) => (where === undefined ? [] : [{ what, where }]));
      const missing = requirements.flatMap(({ what, found: where, how }) =>
        where === undefined ? [{ what, how }] : [],
      );
      const read = await peek(provider, settings);
      const problem = read.problem ?? (missing.length > 0 ? undefined : problemWith(provider, settings));
      return {
        provider,
        title: PROVIDER_VARIABLES[provider].title,
        isDefault: provider === chosen,
        isComplete: missing.length === 0 && problem === undefined,
        found,
        missing,
        ...read,
        ...(problem !== undefined && { problem }),
        ...(ignored.includes(provider) && { ignored: aboutSwitch(provider, settings) }),
      };
    }),
  );
}

function aboutSwitch(provider: AuthProvider, { dotEnv }: CredentialSettings): string {
  return `${PROVIDER_VARIABLES[provider].choice} in ${dotEnv?.path} does not count, because the shell, settings or login have a credential already; set it in the shell to use ${provider}`;
}

/** What a session would be told that has everything. */
function problemWith(provider: AuthProvider, settings: CredentialSettings): string | undefined {
  try {
    checkAddress(provider, settings);
    requireClient(provider);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown);
  }
}

const LONG_ENOUGH = 20;

async function peek(
  provider: AuthProvider,
  settings: CredentialSettings,
): Promise<Pick<ProviderStatus, "ends" | "problem">> {
  const source = secretSource(provider, settings);
  if (source === undefined || source.isCommand === true) return {};
  try {
    const secret = await source.read();
    return secret.length < LONG_ENOUGH ? {} : { ends: secret.slice(-4) };
  } catch (thrown) {
    return { problem: messageOf(thrown) };
  }
}

/** For people who do not sit at this machine: not even the end of a secret. */
export function shownCredential(status: ProviderStatus): ShownCredential {
  const { provider, title, isDefault, found, missing, problem, ignored } = status;
  const lacks = isDefault || found.length > 0 ? missing.map(({ what, how }) => `it lacks ${what}: ${how}`) : [];
  const wrong = [problem ?? [], ignored ?? [], lacks].flat();
  return {
    provider,
    name: title,
    present: missing.length === 0,
    source: found.length === 0 ? null : found.map(({ where }) => where).join(", "),
    active: isDefault,
    ...(wrong.length > 0 && { problem: wrong.join("; ") }),
  };
}
