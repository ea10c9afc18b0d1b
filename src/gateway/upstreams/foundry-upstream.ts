import { PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { clientPackage } from "./client-package.ts";
import { clientUpstream } from "./client-upstream.ts";
import { foundryAddress } from "./provider-address.ts";
import { renewingUpstream } from "./renewing-upstream.ts";
import type { Environment, SecretSource } from "../credentials/secret-source.ts";
import type { Upstream } from "./upstream.ts";

interface FoundryOptions {
  readonly environment: Environment;
  readonly baseUrl: URL | undefined;
  readonly source: SecretSource;
}

/** Microsoft Foundry. All settings are passed to the client, so that it does not look for them itself. */
export async function foundryUpstream({ environment, baseUrl, source }: FoundryOptions): Promise<Upstream> {
  const { AnthropicFoundry } = await clientPackage(() => import("@anthropic-ai/foundry-sdk"), "foundry");
  const baseURL = foundryAddress(environment, baseUrl);
  return renewingUpstream({
    billing: "paid",
    source,
    make: (apiKey) =>
      clientUpstream({
        title: PROVIDER_VARIABLES.foundry.title,
        canCountTokens: true,
        // Deployments have the names that their owner chose, by default those of the models.
        model: (name) => name,
        client: new AnthropicFoundry({
          apiKey,
          // Null, not omitted: otherwise the client would read this process's environment.
          resource: null,
          baseURL,
          logLevel: "off",
        }),
        secrets: [apiKey],
        remedy: source.remedy,
      }),
  });
}
