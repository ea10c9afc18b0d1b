import { PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { clientPackage } from "./client-package.ts";
import { clientUpstream } from "./client-upstream.ts";
import { googleCredentials, googleSource } from "./google-credentials.ts";
import { vertexModel } from "../model-names.ts";
import { vertexRegion } from "./provider-address.ts";
import { renewingUpstream } from "./renewing-upstream.ts";
import type { Environment } from "../credentials/secret-source.ts";
import type { Upstream } from "./upstream.ts";

interface VertexOptions {
  readonly environment: Environment;
  readonly baseUrl: URL | undefined;
  readonly onSecret: (value: string) => void;
}

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";

/** Google Vertex AI. All settings are passed to the client, so that it does not look for them itself. */
export async function vertexUpstream({ environment, baseUrl, onSecret }: VertexOptions): Promise<Upstream> {
  const { AnthropicVertex } = await clientPackage(() => import("@anthropic-ai/vertex-sdk"), "vertex");
  const { GoogleAuth } = await clientPackage(() => import("google-auth-library"), "vertex");
  const region = vertexRegion(environment);
  const upstream = (googleAuth: InstanceType<typeof GoogleAuth>, remedy: string): Upstream =>
    clientUpstream({
      title: PROVIDER_VARIABLES.vertex.title,
      canCountTokens: true,
      model: vertexModel,
      client: new AnthropicVertex({
        region,
        projectId: environment["ANTHROPIC_VERTEX_PROJECT_ID"]?.trim() ?? null,
        // Null, not omitted: otherwise the client would read this process's environment.
        baseURL: baseUrl?.href.replace(/\/+$/, "") ?? null,
        googleAuth,
        logLevel: "off",
      }),
      secrets: [],
      remedy,
    });

  const file = googleCredentials(environment)?.file;
  if (file === undefined)
    return upstream(
      new GoogleAuth({ scopes: SCOPE }),
      "The credentials of vertex are those of this machine's service account: grant it the role Vertex AI User, then send the message again.",
    );
  const source = googleSource(file, onSecret);
  return renewingUpstream({
    billing: "paid",
    source,
    make: (content) =>
      upstream(
        new GoogleAuth({ scopes: SCOPE, credentials: JSON.parse(content) as Record<string, string> }),
        source.remedy,
      ),
  });
}
