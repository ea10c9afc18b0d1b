import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { PROVIDER_VARIABLES } from "../../core/auth/auth-variables.ts";
import { googleCredentials } from "./google-credentials.ts";
import { type CredentialSettings, type Environment, secretSource } from "../credentials/secret-source.ts";

/** One thing that a provider needs. */
export interface Requirement {
  /** A variable, or a description if there are several ways. */
  readonly what: string;
  /** Where it is; undefined if it is missing. */
  readonly found: string | undefined;
  /** How to get it. */
  readonly how: string;
}

const HOW = {
  api_key: "create a key at https://platform.claude.com/settings/keys",
  auth_token: "ask the operator of the gateway at your base URL for a token",
  oauth_token: "run claude setup-token, which prints one",
} as const;

/** What a provider needs, and where each part was found. Reads no secret, runs nothing and makes no requests. */
export function requirementsOf(provider: AuthProvider, settings: CredentialSettings): readonly Requirement[] {
  const { environment, auth = {} } = settings;
  const secret = secretSource(provider, settings)?.place;
  const name = PROVIDER_VARIABLES[provider].secret ?? "";
  const refused = refusedFinder(provider, settings);
  switch (provider) {
    case "api_key":
    case "auth_token":
    case "oauth_token":
      return [{ what: name, found: secret, how: `${HOW[provider]}, then set it or run ${login(provider)}` }];
    case "bedrock":
      return [
        {
          what: "AWS_REGION",
          found: firstSet(environment, ["AWS_REGION", "AWS_DEFAULT_REGION"]),
          how: "set it to a region that has the model, such as us-east-1",
        },
        {
          what: "AWS credentials",
          found:
            secret ??
            (hasAwsKeys(environment) ? "AWS_ACCESS_KEY_ID" : refused ? undefined : awsCredentials(environment)),
          how:
            refused ??
            `set AWS_BEARER_TOKEN_BEDROCK (a Bedrock API key) or run ${login(provider)}; or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; or set AWS_PROFILE in the shell and run aws sso login`,
        },
      ];
    case "vertex":
      return [
        {
          what: "ANTHROPIC_VERTEX_PROJECT_ID",
          found: firstSet(environment, ["ANTHROPIC_VERTEX_PROJECT_ID"]),
          how: "set it to the id of a Google Cloud project in which the model is enabled",
        },
        {
          what: "CLOUD_ML_REGION",
          found: firstSet(environment, ["CLOUD_ML_REGION"]),
          how: "set it to a region that has the model, such as us-east5, or to global",
        },
        {
          what: "Google credentials",
          found: refused ? undefined : googleCredentials(environment)?.place,
          how:
            refused ?? "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to a key file",
        },
      ];
    case "foundry":
      return [
        {
          what: "ANTHROPIC_FOUNDRY_RESOURCE",
          found:
            (auth.provider === "foundry" && auth.base_url !== undefined ? "auth.base_url" : undefined) ??
            firstSet(environment, ["ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_RESOURCE"]),
          how: "set it to the name of your Foundry resource, or ANTHROPIC_FOUNDRY_BASE_URL to its full address",
        },
        {
          what: name,
          found: secret,
          how: `copy a key of the resource from the Foundry portal, then set it or run ${login(provider)}`,
        },
      ];
  }
}

/**
 * What to do about a `.env` that says where a cloud's client finds credentials. Such a file could name any file of the
 * user's, and an address to send it to. The user's own credentials are not used instead: nobody would notice.
 */
function refusedFinder(provider: AuthProvider, { environment, dotEnv }: CredentialSettings): string | undefined {
  const { finders = [] } = PROVIDER_VARIABLES[provider];
  // If the shell has no home, the default path of Google's file would also be the project's choice.
  const names = provider === "vertex" ? [...finders, "HOME"] : finders;
  const name = names.find((one) => environment[one]?.trim() && dotEnv?.names.includes(one) === true);
  if (name === undefined) return undefined;
  return `${dotEnv?.path} sets ${name}, but a project must not choose where credentials are found; set it in the shell if you trust it, or remove it from that file`;
}

function login(provider: AuthProvider): string {
  return `capstan auth login --provider ${provider}`;
}

function firstSet(environment: Environment, names: readonly string[]): string | undefined {
  return names.find((name) => environment[name]?.trim());
}

/** Ways that AWS's own client finds itself. It reads only the environment of this process. */
const AWS_WAYS = [
  "AWS_PROFILE",
  "AWS_WEB_IDENTITY_TOKEN_FILE",
  "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
  "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

function awsCredentials(environment: Environment): string | undefined {
  const isOurs = (name: string): boolean =>
    Boolean(environment[name]?.trim()) && environment[name] === process.env[name];
  const way = AWS_WAYS.find(isOurs);
  if (way !== undefined) return way;
  const files = [
    ...["AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"].filter(isOurs).map((name) => environment[name] ?? ""),
    ...(isOurs("HOME") ? [".aws/credentials", ".aws/config"].map((file) => join(environment["HOME"] ?? "", file)) : []),
  ];
  return files.find((file) => existsSync(file)) ?? (isMadeBy("Amazon EC2") ? "the role of this machine" : undefined);
}

export function hasAwsKeys(environment: Environment): boolean {
  return ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].every((name) => environment[name]?.trim());
}

/** The machine's vendor, according to its firmware. */
function isMadeBy(maker: string): boolean {
  try {
    return readFileSync("/sys/class/dmi/id/sys_vendor", "utf8").includes(maker);
  } catch {
    return false;
  }
}
