import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { CapstanError } from "../../core/errors.ts";
import type { CredentialSettings, Environment } from "../credentials/secret-source.ts";

/**
 * Throws if a provider's address is not valid, as a session would. Reads no secret, runs nothing and makes no requests.
 */
export function checkAddress(provider: AuthProvider, settings: CredentialSettings): void {
  const baseUrl = baseUrlOf(provider, settings);
  if (provider === "bedrock") bedrockRegion(settings.environment);
  if (provider === "vertex") vertexRegion(settings.environment);
  if (provider === "foundry") foundryAddress(settings.environment, baseUrl);
}

/** Undefined if the provider has its own address. */
export function baseUrlOf(provider: AuthProvider, settings: CredentialSettings): URL | undefined {
  const { environment, auth = {} } = settings;
  if (auth.base_url !== undefined && auth.provider === provider) return parsedUrl(auth.base_url, "auth.base_url");
  const names = PROVIDER_VARIABLES[provider].addresses.filter((name) => environment[name]?.trim());
  for (const name of names) refuseTheft(name, provider, settings);
  const name = names.find((one) => one.endsWith("_BASE_URL"));
  return name === undefined ? undefined : parsedUrl(environment[name] ?? "", name);
}

/** It becomes a part of a host name. */
export function bedrockRegion(environment: Environment): string {
  const region = (environment["AWS_REGION"]?.trim() || environment["AWS_DEFAULT_REGION"]?.trim()) ?? "";
  if (/^[a-z0-9-]+$/.test(region)) return region;
  throw new CapstanError("invalid_input", "AWS_REGION must be the name of a region, such as us-east-1.");
}

/** It becomes a part of a host name. */
export function vertexRegion(environment: Environment): string {
  const region = environment["CLOUD_ML_REGION"]?.trim() ?? "";
  if (/^[a-z0-9-]+$/.test(region)) return region;
  throw new CapstanError("invalid_input", "CLOUD_ML_REGION must be the name of a region, such as us-east5, or global.");
}

/** The resource becomes a part of a host name. */
export function foundryAddress(environment: Environment, baseUrl: URL | undefined): string {
  if (baseUrl !== undefined) return baseUrl.href.replace(/\/+$/, "");
  const resource = environment["ANTHROPIC_FOUNDRY_RESOURCE"]?.trim() ?? "";
  if (/^[A-Za-z0-9-]+$/.test(resource)) return `https://${resource}.services.ai.azure.com/anthropic`;
  throw new CapstanError("invalid_input", "ANTHROPIC_FOUNDRY_RESOURCE must be the name of a resource, not an address.");
}

function parsedUrl(value: string, name: string): URL {
  const url = URL.parse(value.trim());
  // Does not repeat the value: people put passwords into URLs, which is refused as well.
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw new CapstanError("invalid_input", `${name} must be an http(s) URL without user and password.`);
  return url;
}

/**
 * The author of a project's `.env` must not get the user's own credential by setting the address it is sent to. A file
 * that `.env` names may be the user's own, too.
 */
function refuseTheft(address: string, provider: AuthProvider, { environment, dotEnv }: CredentialSettings): void {
  if (dotEnv?.names.includes(address) !== true) return;
  const secret = PROVIDER_VARIABLES[provider].secret ?? "";
  if (environment[secret]?.trim() && dotEnv.names.includes(secret)) return;
  throw new CapstanError(
    "invalid_input",
    `${dotEnv.path} sets ${address}, but not the credential for ${provider}: a project must not choose ` +
      `where your credential is sent. Set ${address} in the shell if you trust that address.`,
    { data: { file: dotEnv.path, provider } },
  );
}
