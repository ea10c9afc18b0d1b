import { AUTH_PROVIDERS, type AuthProvider } from "../../core/auth/auth-schema.ts";
import { chosenProvider, PROVIDER_VARIABLES, type ProviderChoice } from "../../core/auth/auth-variables.ts";
import { CapstanError } from "../../core/errors.ts";
import { tellAll } from "../credentials/credential-command.ts";
import { httpUpstream } from "./http-upstream.ts";
import { baseUrlOf } from "./provider-address.ts";
import { renewingUpstream } from "./renewing-upstream.ts";
import { type Requirement, requirementsOf } from "./requirements.ts";
import { type CredentialSettings, secretSource } from "../credentials/secret-source.ts";
import type { Upstream, UpstreamFor } from "./upstream.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";

/** One upstream per provider, created on first use. A failure is retried next time. */
export function upstreamsFor(settings: CredentialSettings): UpstreamFor {
  const made = new Map<AuthProvider, Promise<Upstream>>();
  return async (given) => {
    const provider = given ?? defaultProvider(settings) ?? refuseAll();
    const upstream = made.get(provider) ?? makeUpstream(provider, settings);
    made.set(provider, upstream);
    upstream.catch(() => made.delete(provider));
    return upstream;
  };
}

/**
 * The same for a host, which fails here and not in its first session: if its own provider lacks something, and if it
 * has none and no agent could name another.
 */
export async function usableUpstreams(settings: CredentialSettings): Promise<UpstreamFor> {
  const upstreamFor = upstreamsFor(settings);
  const isUsable = (provider: AuthProvider): boolean =>
    requirementsOf(provider, settings).every(({ found }) => found !== undefined);
  if (defaultProvider(settings) !== undefined || !AUTH_PROVIDERS.some(isUsable)) await upstreamFor().catch(tellAll);
  return upstreamFor;
}

/** The provider of sessions whose agent names none. */
export function defaultProvider(settings: CredentialSettings): AuthProvider | undefined {
  return chosenProvider(choiceOf(settings));
}

/** What decides the provider. The saved login is read lazily. */
export function choiceOf({ environment, auth = {}, stored, dotEnv }: CredentialSettings): ProviderChoice {
  return {
    environment,
    auth,
    get stored() {
      return stored?.providers ?? [];
    },
    dotEnv: dotEnv?.names,
  };
}

async function makeUpstream(provider: AuthProvider, settings: CredentialSettings): Promise<Upstream> {
  const missing = requirementsOf(provider, settings).filter(({ found }) => found === undefined);
  if (missing.length > 0) throw incomplete(provider, missing);
  const { environment, onSecret } = settings;
  const source = secretSource(provider, settings);
  const baseUrl = baseUrlOf(provider, settings);
  if (provider === "vertex") {
    const learn = (value: string): void => onSecret?.({ name: "GOOGLE_APPLICATION_CREDENTIALS", value });
    return (await import("./vertex-upstream.ts")).vertexUpstream({ environment, baseUrl, onSecret: learn });
  }
  if (provider === "bedrock")
    return (await import("./bedrock-upstream.ts")).bedrockUpstream({ environment, baseUrl, source });
  if (source === undefined) throw incomplete(provider, []);
  if (provider === "foundry")
    return (await import("./foundry-upstream.ts")).foundryUpstream({ environment, baseUrl, source });
  return renewingUpstream({
    billing: provider === "oauth_token" ? "included" : "paid",
    source,
    make: (secret) =>
      httpUpstream({ baseUrl: baseUrl ?? new URL(DEFAULT_BASE_URL), credential: { kind: provider, secret } }),
  });
}

/** Lists everything that is missing at once. */
function incomplete(provider: AuthProvider, missing: readonly Requirement[]): CapstanError {
  const { title } = PROVIDER_VARIABLES[provider];
  return new CapstanError(
    "credential_missing",
    `The provider ${provider} (${title}) is not configured yet. ${missing.map(({ what, how }) => `Missing ${what}: ${how}.`).join(" ")}`,
    { data: { provider, missing: missing.map(({ what }) => what) } },
  );
}

function refuseAll(): never {
  const names = (["api_key", "auth_token", "oauth_token"] as const).map((one) => PROVIDER_VARIABLES[one].secret);
  throw new CapstanError(
    "credential_missing",
    `No credential for the model API. Set ${names.join(", ")}, or one of them with _FILE; or save one (capstan auth login); or use the rehearsal model (--rehearsal).`,
  );
}
