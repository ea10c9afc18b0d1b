import { buffer } from "node:stream/consumers";
import { z } from "zod";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { upstreamsFor } from "../../gateway/upstreams/upstreams.ts";
import { type CredentialOptions, credentialSettings } from "./credential-settings.ts";

const modelList = z.object({
  data: z.array(z.object({ id: z.string(), display_name: z.string().optional(), created_at: z.string().optional() })),
});

const TIMEOUT_MS = 20_000;

/** Asks the upstream for its models. */
export async function listModels(options: CredentialOptions): Promise<z.infer<typeof modelList>> {
  const upstream = await upstreamsFor(credentialSettings(options))();
  const answer = await upstream
    .send({
      method: "GET",
      path: "/v1/models?limit=1000",
      headers: [
        ["anthropic-version", "2023-06-01"],
        ["accept-encoding", "identity"],
      ],
      body: undefined,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    .catch((thrown: unknown) => {
      throw new CapstanError(
        "model_failed",
        `The model API could not be reached: ${messageOf(thrown)}. Check the network and ANTHROPIC_BASE_URL.`,
        { cause: thrown },
      );
    });
  const body = (await buffer(answer.body)).toString("utf8");
  if (answer.status === 401 || answer.status === 403)
    throw new CapstanError(
      "credential_rejected",
      `The model API rejected the credential (${answer.status}). ${upstream.remedy ?? "Check the key."}`,
    );
  const parsed = answer.status === 200 ? modelList.safeParse(parseJson(body)) : undefined;
  if (parsed?.success !== true)
    throw new CapstanError(
      "unsupported",
      `The model API does not list its models (status ${answer.status}). Name the model with --model.`,
    );
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
