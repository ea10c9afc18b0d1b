import type { CapstanError, ErrorCode } from "../errors.ts";
import type { EventDraft, SessionErrorBody, StopReason } from "../events/events.ts";
import type { LimitHit } from "../money/budget-schema.ts";

/**
 * How a turn's end is reported: the stop reason, and the events that precede it.
 *
 * | what happened                                        | stop_reason       | preceded by                  |
 * | finished, or interrupted by the user                 | end_turn          | user.interrupt in the second |
 * | any limit                                            | budget_reached    | capstan.limit_reached        |
 * | the model refused                                    | refusal           |                              |
 * | failures outlasted retries, process lost, no output  | retries_exhausted | session.error                |
 */
export function tellTurnEnd(
  end: { readonly outcome: string; readonly error?: CapstanError },
  { limit, retries }: { readonly limit: LimitHit | undefined; readonly retries: number },
): { readonly before: readonly EventDraft[]; readonly stopReason: StopReason } {
  if (limit !== undefined)
    return { before: [{ type: "capstan.limit_reached", ...limit }], stopReason: { type: "budget_reached" } };
  if (end.outcome === "refused") return { before: [], stopReason: { type: "refusal" } };
  if (end.error !== undefined)
    return {
      before: [{ type: "session.error", error: errorBody(end.error, retries) }],
      stopReason: { type: "retries_exhausted" },
    };
  return { before: [], stopReason: { type: "end_turn" } };
}

/** In the API, `exhausted` is a turn that has ended in a session that can continue, whether it was retried or not. */
function errorBody(error: CapstanError, retries: number): SessionErrorBody {
  const { status, stderr } = error.data;
  return {
    type: errorType(error, status),
    message: error.message,
    retry_status: { type: "exhausted" },
    retries,
    retryable: error.retryable,
    code: error.code,
    ...(typeof status === "number" && { http_status: status }),
    ...(typeof stderr === "string" && stderr !== "" && { stderr }),
  };
}

const OF_THE_MODEL: readonly ErrorCode[] = [
  "model_failed",
  "model_unknown",
  "credential_rejected",
  "credential_expired",
];

function errorType(error: CapstanError, status: unknown): SessionErrorBody["type"] {
  if (status === 429) return "model_rate_limited_error";
  if (status === 529) return "model_overloaded_error";
  if (error.data["kind"] === "billing_error") return "billing_error";
  return OF_THE_MODEL.includes(error.code) ? "model_request_failed_error" : "unknown_error";
}
