import { AUTH_PROVIDERS, type AuthProvider } from "./auth-provider.ts";
import type { AuthSettings } from "./auth-schema.ts";

/** The variables of each provider, with the names that the official clients use. */

type Environment = Readonly<Record<string, string | undefined>>;

interface ProviderVariables {
  /**
   * Contains the secret; the same name with `_FILE` names a file that contains it. Absent: the secret is in the cloud's
   * own files.
   */
  readonly secret?: string;
  /** Each decides where the credential is sent. */
  readonly addresses: readonly string[];
  /**
   * How the cloud's client finds credentials: services, and files that can say what is sent where and which program to
   * run. A project must never set them.
   */
  readonly finders?: readonly string[];
  /** Chooses the provider if set to 1. */
  readonly choice?: string;
  /** The product's name. */
  readonly title: string;
}

export const PROVIDER_VARIABLES: Readonly<Record<AuthProvider, ProviderVariables>> = {
  api_key: { secret: "ANTHROPIC_API_KEY", addresses: ["ANTHROPIC_BASE_URL"], title: "Anthropic API" },
  auth_token: { secret: "ANTHROPIC_AUTH_TOKEN", addresses: ["ANTHROPIC_BASE_URL"], title: "Anthropic API" },
  oauth_token: { secret: "CLAUDE_CODE_OAUTH_TOKEN", addresses: ["ANTHROPIC_BASE_URL"], title: "Claude subscription" },
  bedrock: {
    secret: "AWS_BEARER_TOKEN_BEDROCK",
    addresses: ["ANTHROPIC_BEDROCK_BASE_URL"],
    finders: [
      "AWS_CONFIG_FILE",
      "AWS_SHARED_CREDENTIALS_FILE",
      "AWS_WEB_IDENTITY_TOKEN_FILE",
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
      "AWS_CONTAINER_CREDENTIALS_FULL_URI",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    ],
    choice: "CLAUDE_CODE_USE_BEDROCK",
    title: "Amazon Bedrock",
  },
  vertex: {
    addresses: ["ANTHROPIC_VERTEX_BASE_URL"],
    finders: ["GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG"],
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

/** The providers that need only a secret, and are therefore used when it is set. */
const PLAIN = AUTH_PROVIDERS.filter((provider) => PROVIDER_VARIABLES[provider].choice === undefined);

/** Both variable names for a provider's secret. */
export function secretNames(provider: AuthProvider): readonly string[] {
  const { secret } = PROVIDER_VARIABLES[provider];
  return secret === undefined ? [] : [secret, `${secret}_FILE`];
}

/** What decides the provider if an agent names none. */
export interface ProviderChoice {
  readonly environment: Environment;
  readonly auth: AuthSettings;
  /** The providers with a secret saved by `capstan auth login`. */
  readonly stored: readonly AuthProvider[];
  /** The variables set by a project's `.env`. */
  readonly dotEnv?: readonly string[] | undefined;
}

/** Precedence: settings, a switch, a secret that is set, a saved secret. Undefined: there is none. */
export function chosenProvider(choice: ProviderChoice): AuthProvider | undefined {
  const { environment, auth } = choice;
  if (auth.provider !== undefined) return auth.provider;
  const ignored = ignoredSwitches(choice);
  return (
    switchedOn(environment).find((provider) => !ignored.includes(provider)) ??
    PLAIN.find((provider) => isSecretSet(provider, environment)) ??
    // Read lazily: an unreadable file must not affect users who don't need it.
    AUTH_PROVIDERS.find((provider) => choice.stored.includes(provider))
  );
}

/**
 * The providers whose switch in a project's `.env` is ignored, because the user has their own credential: a project
 * must not choose another provider for them.
 */
export function ignoredSwitches(choice: ProviderChoice): readonly AuthProvider[] {
  const { environment, auth, dotEnv = [] } = choice;
  const theirs = switchedOn(environment).filter(
    (provider) => provider !== auth.provider && dotEnv.includes(PROVIDER_VARIABLES[provider].choice ?? ""),
  );
  if (theirs.length === 0) return [];
  const own = Object.fromEntries(Object.entries(environment).filter(([name]) => !dotEnv.includes(name)));
  const hasOwn =
    auth.provider !== undefined ||
    switchedOn(own).length > 0 ||
    PLAIN.some((provider) => isSecretSet(provider, own)) ||
    choice.stored.length > 0;
  return hasOwn ? theirs : [];
}

function switchedOn(environment: Environment): readonly AuthProvider[] {
  return AUTH_PROVIDERS.filter((provider) => isOn(environment[PROVIDER_VARIABLES[provider].choice ?? ""]));
}

function isSecretSet(provider: AuthProvider, environment: Environment): boolean {
  return secretNames(provider).some((name) => environment[name]?.trim());
}

/** Same rules as the engine's CLI. */
function isOn(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes(value?.trim().toLowerCase() ?? "");
}
