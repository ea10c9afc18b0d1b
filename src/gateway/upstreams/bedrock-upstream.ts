import { setTimeout as sleep } from "node:timers/promises";
import { PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { clientPackage } from "./client-package.ts";
import { clientUpstream } from "./client-upstream.ts";
import { bedrockModel } from "../model-names.ts";
import { bedrockRegion } from "./provider-address.ts";
import { renewingUpstream } from "./renewing-upstream.ts";
import { hasAwsKeys } from "./requirements.ts";
import type { Environment, SecretSource } from "../credentials/secret-source.ts";
import type { Upstream } from "./upstream.ts";

/** AWS's own client looks up its credentials at every request, and nobody else knows where. */
const TRY_EVERY_MS = 15_000;

interface BedrockOptions {
  readonly environment: Environment;
  readonly baseUrl: URL | undefined;
  /** Of a Bedrock API key. Absent: the request is signed with AWS credentials. */
  readonly source: SecretSource | undefined;
}

/** Amazon Bedrock. All settings are passed to the client, so that it does not look for them itself. */
export async function bedrockUpstream({ environment, baseUrl, source }: BedrockOptions): Promise<Upstream> {
  const { AnthropicBedrock } = await clientPackage(() => import("@anthropic-ai/bedrock-sdk"), "bedrock");
  const awsRegion = bedrockRegion(environment);
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
      renewed: (signal) => sleep(TRY_EVERY_MS, undefined, { signal }),
      remedy:
        "The credentials of bedrock came from AWS's own files or services: renew them (aws sso login, for a profile with single sign-on).",
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
      "The credentials of bedrock came from the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, which cannot change while this program runs: set valid ones and restart Capstan.",
  });
}
