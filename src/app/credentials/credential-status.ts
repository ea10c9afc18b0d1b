import { AUTH_PROVIDERS, type AuthProvider } from "../../core/auth/auth-schema.ts";
import { ignoredSwitches, PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { messageOf } from "../../core/errors.ts";
import { requireClient } from "../../gateway/upstreams/client-package.ts";
import { checkAddress } from "../../gateway/upstreams/provider-address.ts";
import { requirementsOf } from "../../gateway/upstreams/requirements.ts";
import { type CredentialSettings, secretSource } from "../../gateway/credentials/secret-source.ts";
import { choiceOf, defaultProvider } from "../../gateway/upstreams/upstreams.ts";
import type { CredentialListing } from "../../server/api/deps.ts";
import { type CredentialOptions, credentialSettings } from "./credential-settings.ts";

/** The status of one provider. Never contains a secret. */
export interface ProviderStatus {
  readonly provider: AuthProvider;
  readonly title: string;
  /** Whether sessions use it if their agent names no provider. */
  readonly isDefault: boolean;
  /** Nothing is missing. Only the provider knows whether the credential is valid. */
  readonly isComplete: boolean;
  readonly found: readonly { readonly what: string; readonly where: string }[];
  readonly missing: readonly { readonly what: string; readonly how: string }[];
  /** The last characters of the secret, if it is long enough to show them. */
  readonly ends?: string;
  /** Why the secret cannot be read, the address cannot be used, or a client is not installed. */
  readonly problem?: string;
  /** What is set but has no effect. */
  readonly ignored?: string;
}

/** Returns every provider, in the order Capstan tries them. Runs no commands and makes no network requests. */
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
  return `${PROVIDER_VARIABLES[provider].choice} in ${dotEnv?.path} has no effect, because the shell, settings or login already provide a credential; set it in the shell to use ${provider}`;
}

/** The error that a session would get although nothing is missing. */
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

/** For people at another machine: without even the end of a secret. */
export function credentialToWire(status: ProviderStatus): CredentialListing {
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
