import { AUTH_PROVIDERS, type AuthProvider } from "./auth-provider.ts";
import type { AuthSettings } from "./auth-schema.ts";

/** The variables that speak about each provider, as the official clients name them. */

type Environment = Readonly<Record<string, string | undefined>>;

interface ProviderVariables {
  /** Holds the secret; the same name with `_FILE` names a file that holds it. Absent: it is in files of the cloud's own. */
  readonly secret?: string;
  /** Each of them decides where the credential is sent. */
  readonly addresses: readonly string[];
  /** Set to 1 it chooses the provider. */
  readonly choice?: string;
  /** What it is called by its maker. */
  readonly title: string;
}

export const PROVIDER_VARIABLES: Readonly<Record<AuthProvider, ProviderVariables>> = {
  api_key: { secret: "ANTHROPIC_API_KEY", addresses: ["ANTHROPIC_BASE_URL"], title: "Anthropic API" },
  auth_token: { secret: "ANTHROPIC_AUTH_TOKEN", addresses: ["ANTHROPIC_BASE_URL"], title: "Anthropic API" },
  oauth_token: { secret: "CLAUDE_CODE_OAUTH_TOKEN", addresses: ["ANTHROPIC_BASE_URL"], title: "Claude subscription" },
  bedrock: {
    secret: "AWS_BEARER_TOKEN_BEDROCK",
    addresses: ["ANTHROPIC_BEDROCK_BASE_URL"],
    choice: "CLAUDE_CODE_USE_BEDROCK",
    title: "Amazon Bedrock",
  },
  vertex: {
    addresses: ["ANTHROPIC_VERTEX_BASE_URL"],
    choice: "CLAUDE_CODE_USE_VERTEX",
    title: "Google Vertex AI",
  },
  foundry: {
    secret: "ANTHROPIC_FOUNDRY_API_KEY",
    addresses: ["ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_RESOURCE"],
    choice: "CLAUDE_CODE_USE_FOUNDRY",
    title: "Microsoft Foundry",
  },
};

/** The providers whose secret is all that they need, and which are therefore used when it is set. */
const PLAIN = AUTH_PROVIDERS.filter((provider) => PROVIDER_VARIABLES[provider].choice === undefined);

/** Both names under which the secret of a provider may be set. */
export function secretNames(provider: AuthProvider): readonly string[] {
  const { secret } = PROVIDER_VARIABLES[provider];
  return secret === undefined ? [] : [secret, `${secret}_FILE`];
}

/** What decides about the provider where an agent names none. */
export interface ProviderChoice {
  readonly environment: Environment;
  readonly auth: AuthSettings;
  /** For which of them a secret was stored by `capstan auth login`. */
  readonly stored: readonly AuthProvider[];
}

/** Settings before a switch, before a secret that is set, before one that was stored. Undefined: there is none. */
export function chosenProvider({ environment, auth, stored }: ProviderChoice): AuthProvider | undefined {
  if (auth.provider !== undefined) return auth.provider;
  const isSet = (name: string): boolean => Boolean(environment[name]?.trim());
  return (
    AUTH_PROVIDERS.find((provider) => isOn(environment[PROVIDER_VARIABLES[provider].choice ?? ""])) ??
    PLAIN.find((provider) => secretNames(provider).some(isSet)) ??
    AUTH_PROVIDERS.find((provider) => stored.includes(provider))
  );
}

/** As the engine's own command line reads such a switch. */
function isOn(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes(value?.trim().toLowerCase() ?? "");
}
