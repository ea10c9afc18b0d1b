import { PROVIDER_VARIABLES } from "../core/auth-variables.ts";
import { CapstanError } from "../core/errors.ts";
import { clientPackage } from "./client-package.ts";
import { clientUpstream } from "./client-upstream.ts";
import { renewingUpstream } from "./renewing-upstream.ts";
import type { Environment, SecretSource } from "./secret-source.ts";
import type { Upstream } from "./upstream.ts";

interface FoundryOptions {
  readonly environment: Environment;
  readonly baseUrl: URL | undefined;
  readonly source: SecretSource;
}

/** Microsoft Foundry. Everything is handed to the client, so that it does not look for it on its own. */
export async function foundryUpstream({ environment, baseUrl, source }: FoundryOptions): Promise<Upstream> {
  const { AnthropicFoundry } = await clientPackage(
    () => import("@anthropic-ai/foundry-sdk"),
    "@anthropic-ai/foundry-sdk",
  );
  const resource = environment["ANTHROPIC_FOUNDRY_RESOURCE"]?.trim() ?? "";
  // It becomes a part of a host's name.
  if (baseUrl === undefined && !/^[A-Za-z0-9-]+$/.test(resource))
    throw new CapstanError("invalid_input", "ANTHROPIC_FOUNDRY_RESOURCE must be the name of a resource, no address.");
  return renewingUpstream({
    billing: "paid",
    source,
    make: (apiKey) =>
      clientUpstream({
        title: PROVIDER_VARIABLES.foundry.title,
        canCountTokens: true,
        // Deployments there have the names that their owner gave them, by default those of the models.
        model: (name) => name,
        client: new AnthropicFoundry({
          apiKey,
          // Null, and not left out: the client would look into this process's environment.
          resource: null,
          baseURL: baseUrl?.href.replace(/\/+$/, "") ?? `https://${resource}.services.ai.azure.com/anthropic`,
          logLevel: "off",
        }),
        secrets: [apiKey],
        remedy: source.remedy,
      }),
  });
}
