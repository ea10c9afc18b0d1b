import { readFile } from "node:fs/promises";
import { CapstanError, messageOf } from "../core/errors.ts";
import { type Credential, httpUpstream } from "./http-upstream.ts";
import type { Upstream } from "./upstream.ts";

const DEFAULT_BASE_URL = "https://api.anthropic.com";

/** In order of precedence. Each may also be given as a file by the same name with `_FILE`. */
const SECRETS: readonly (readonly [variable: string, kind: Credential["kind"]])[] = [
  ["ANTHROPIC_API_KEY", "api_key"],
  ["ANTHROPIC_AUTH_TOKEN", "auth_token"],
  ["CLAUDE_CODE_OAUTH_TOKEN", "oauth_token"],
];

export type Environment = Readonly<Record<string, string | undefined>>;

/** The upstream that a set of variables describes. An empty variable counts as absent. */
export async function upstreamFromEnvironment(environment: Environment): Promise<Upstream> {
  const baseUrl = baseUrlFrom(environment["ANTHROPIC_BASE_URL"]);
  for (const [variable, kind] of SECRETS) {
    const secret = await secretFrom(environment, variable);
    if (secret !== undefined) return httpUpstream({ baseUrl, credential: { kind, secret } });
  }
  throw new CapstanError(
    "credential_missing",
    `No credential for the model API. Set ${SECRETS.map(([name]) => name).join(", ")}, or one of them with _FILE; or use the rehearsal model (--rehearsal).`,
  );
}

async function secretFrom(environment: Environment, variable: string): Promise<string | undefined> {
  const direct = environment[variable]?.trim();
  if (direct) return checked(direct, variable);
  const file = environment[`${variable}_FILE`];
  if (!file) return undefined;
  const content = await readFile(file, "utf8").catch((error: unknown) => {
    throw missing(`${variable}_FILE names a file that cannot be read: ${messageOf(error)}`);
  });
  if (content.trim() === "") throw missing(`${variable}_FILE names an empty file: ${file}`);
  return checked(content.trim(), `${variable}_FILE`);
}

/** Refused here, because Node would refuse such a header only at the first request. */
function checked(secret: string, variable: string): string {
  if (!/^[\x21-\x7e]+$/.test(secret)) throw missing(`${variable} holds characters that no credential has.`);
  return secret;
}

function missing(message: string): CapstanError {
  return new CapstanError("credential_missing", message);
}

function baseUrlFrom(value: string | undefined): URL {
  const url = URL.parse(value?.trim() || DEFAULT_BASE_URL);
  // The value is not repeated: people put passwords into URLs, which is refused as well.
  if (url === null || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    throw new CapstanError("invalid_input", "ANTHROPIC_BASE_URL must be an http(s) URL without user and password.");
  return url;
}
