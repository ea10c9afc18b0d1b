import { CapstanError, type ErrorCode } from "../core/errors.ts";

/** Kinds of model request failures, with the Agent SDK's names. */
export type ModelFailureKind =
  | "authentication_failed"
  | "oauth_org_not_allowed"
  | "billing_error"
  | "model_not_found"
  | "rate_limit"
  | "overloaded"
  | "server_error"
  | "invalid_request"
  | "max_output_tokens"
  | "unknown";

const FAILURES: Readonly<Partial<Record<string, readonly [ErrorCode, string]>>> = {
  authentication_failed: [
    "credential_rejected",
    "The model API refused the credential. Check the key and its workspace.",
  ],
  oauth_org_not_allowed: [
    "credential_rejected",
    "The organization of this token is not allowed to use the model API. Use another token.",
  ],
  billing_error: ["credential_rejected", "The account cannot pay for the request. Check its credit."],
  model_not_found: ["model_unknown", "The model API does not know this model. Check the model's name."],
  rate_limit: ["model_failed", "The model API's rate limit was reached. Wait, then send the message again."],
  overloaded: ["model_failed", "The model API is overloaded. Wait, then send the message again."],
  server_error: ["model_failed", "The model API failed. Wait, then send the message again."],
  invalid_request: ["model_failed", "The model API rejected the request as invalid."],
  max_output_tokens: ["model_failed", "The model's answer reached its maximum length. Ask for less at once."],
};

/** Failures that may not occur again when the same message is resent. */
const RETRYABLE: ReadonlySet<string> = new Set(["rate_limit", "overloaded", "server_error", "unknown"]);

/** The error that ends a turn when a model request failed. `kind` may be one that only a newer SDK knows. */
export function modelError(
  status: number | null,
  { kind = "unknown", text = "" }: { readonly kind?: string | undefined; readonly text?: string | undefined },
): CapstanError {
  const [code, words] = FAILURES[kind] ?? ["model_failed", "The model request failed."];
  return new CapstanError(code, text === "" ? words : `${words} It said: ${text}`, {
    data: { status, kind },
    retryable: RETRYABLE.has(kind),
  });
}
