import { buffer } from "node:stream/consumers";
import { z } from "zod";
import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { sentence } from "../../core/text/text.ts";
import { tellAll } from "../../gateway/credentials/credential-command.ts";
import { defaultProvider, upstreamsFor } from "../../gateway/upstreams/upstreams.ts";
import { clock } from "../clock.ts";
import { type CredentialOptions, credentialSettings } from "./credential-settings.ts";

/** The result of one small request. */
export interface CredentialTest {
  readonly provider: AuthProvider;
  readonly model: string;
  readonly status: number;
  readonly ms: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

const TIMEOUT_MS = 60_000;
const OF_THE_ENGINE = "You are Claude Code, Anthropic's official CLI for Claude.";

const answer = z.object({
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }).optional(),
  error: z.object({ message: z.string() }).optional(),
});

/** Requests one token from a provider. Throws the error that a session would get. */
export async function testCredential(
  options: CredentialOptions & { readonly provider?: AuthProvider | undefined; readonly model: string },
): Promise<CredentialTest> {
  const { model } = options;
  const settings = credentialSettings(options);
  const upstream = await upstreamsFor(settings)(options.provider).catch(tellAll);
  const provider = options.provider ?? defaultProvider(settings) ?? "api_key";
  const body = {
    model,
    max_tokens: 1,
    messages: [{ role: "user", content: "Say ok." }],
    // Subscriptions work only for this program.
    ...(provider === "oauth_token" && { system: OF_THE_ENGINE }),
  };
  const begun = clock.now();
  const response = await upstream
    .send({
      method: "POST",
      path: "/v1/messages",
      headers: [
        ["anthropic-version", "2023-06-01"],
        ["content-type", "application/json"],
      ],
      body: Buffer.from(JSON.stringify(body)),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    .catch((thrown: unknown) => {
      throw new CapstanError(
        "model_failed",
        `${provider}: the model API could not be reached (${messageOf(thrown)}). Check the network and the address.`,
        { cause: thrown, retryable: true },
      );
    });
  const { status } = response;
  const { usage, error } = answer.safeParse(parseJson((await buffer(response.body)).toString("utf8"))).data ?? {};
  if (status === 200 && usage !== undefined) return { provider, model, status, ms: clock.now() - begun, ...usage };
  const said = error?.message ?? "no reason given";
  if (status === 401 || status === 403)
    throw new CapstanError(
      "credential_rejected",
      `${provider}: the credential was rejected (${status}): ${sentence(said)} ${upstream.remedy ?? ""}`.trim(),
      { data: { provider, status } },
    );
  throw new CapstanError("model_failed", `${provider}: the model API answered ${status}: ${said}`, {
    data: { provider, status },
    retryable: status === 429 || status >= 500,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
