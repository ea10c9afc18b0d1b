import { PROVIDER_VARIABLES } from "../core/auth-variables.ts";
import { CapstanError } from "../core/errors.ts";
import { clientPackage } from "./client-package.ts";
import { clientUpstream } from "./client-upstream.ts";
import { bedrockModel } from "./model-names.ts";
import { renewingUpstream } from "./renewing-upstream.ts";
import { hasAwsKeys } from "./requirements.ts";
import type { Environment, SecretSource } from "./secret-source.ts";
import type { Upstream } from "./upstream.ts";

interface BedrockOptions {
  readonly environment: Environment;
  readonly baseUrl: URL | undefined;
  /** Of a Bedrock API key. Absent: the request is signed with AWS credentials. */
  readonly source: SecretSource | undefined;
}

/** Amazon Bedrock. Everything is handed to the client, so that it does not look for it on its own. */
export async function bedrockUpstream({ environment, baseUrl, source }: BedrockOptions): Promise<Upstream> {
  const { AnthropicBedrock } = await clientPackage(
    () => import("@anthropic-ai/bedrock-sdk"),
    "@anthropic-ai/bedrock-sdk",
  );
  const awsRegion = (environment["AWS_REGION"]?.trim() || environment["AWS_DEFAULT_REGION"]?.trim()) ?? "";
  // It becomes a part of a host's name.
  if (!/^[a-z0-9-]+$/.test(awsRegion))
    throw new CapstanError("invalid_input", "AWS_REGION must be the name of a region, such as us-east-1.");
  const common = {
    awsRegion,
    baseURL: baseUrl?.href.replace(/\/+$/, "") ?? `https://bedrock-runtime.${awsRegion}.amazonaws.com`,
    logLevel: "off",
  } as const;
  const shared = {
    title: PROVIDER_VARIABLES.bedrock.title,
    canCountTokens: false,
    model: (name: string) => bedrockModel(name, environment, awsRegion),
  };
  if (source !== undefined)
    return renewingUpstream({
      billing: "paid",
      source,
      make: (apiKey) =>
        clientUpstream({
          ...shared,
          client: new AnthropicBedrock({ ...common, apiKey }),
          secrets: [apiKey],
          remedy: source.remedy,
        }),
    });
  if (!hasAwsKeys(environment))
    return clientUpstream({
      ...shared,
      client: new AnthropicBedrock({ ...common, apiKey: null }),
      secrets: [],
      remedy:
        "The credentials of bedrock came from AWS's own files or services: renew them (aws sso login, for a profile with single sign-on) and send the message again.",
    });
  const [awsAccessKey = "", awsSecretKey = "", awsSessionToken = ""] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
  ].map((name) => environment[name]?.trim());
  const keys = { awsAccessKey, awsSecretKey, awsSessionToken: awsSessionToken || null };
  return clientUpstream({
    ...shared,
    client: new AnthropicBedrock({ ...common, apiKey: null, ...keys }),
    secrets: [awsSecretKey, awsSessionToken].filter((secret) => secret !== ""),
    remedy:
      "The credentials of bedrock came from the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which cannot change while this program runs: set valid ones and start Capstan again.",
  });
}
