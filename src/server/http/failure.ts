import type { StoredAnswer } from "../../core/session/approval.ts";
import { CapstanError, type ErrorCode } from "../../core/errors.ts";

/** The error types of the API and their statuses. */
const STATUS = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
} as const;

export type ApiErrorType = keyof typeof STATUS;

/** Codes of conflicts that resolve on their own. */
const PASSING: ReadonlySet<ErrorCode> = new Set(["session_busy", "workspace_busy"]);

/** An error in the API's format. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly type: ApiErrorType;
  readonly details: Readonly<Record<string, unknown>>;
  /** In seconds: when a retry may succeed. */
  readonly retryAfter: number | undefined;
  readonly status: FailureStatus;
  /** Whether a retry of the same request would fail again. */
  readonly isFinal: boolean;

  constructor(
    type: ApiErrorType,
    message: string,
    { details = {}, retryAfter, status, mayPass = false }: FailureDetails = {},
  ) {
    super(message);
    this.type = type;
    this.details = details;
    this.retryAfter = retryAfter;
    this.status = status ?? STATUS[type];
    this.isFinal = this.status === 409 && !mayPass;
  }
}

/**
 * Additional statuses: wrong method, late body, wrong media type, missing socket upgrade, and a server that is starting
 * or stopping.
 */
type FailureStatus = (typeof STATUS)[ApiErrorType] | 405 | 408 | 415 | 426 | 503;

interface FailureDetails {
  readonly details?: Readonly<Record<string, unknown>>;
  readonly retryAfter?: number;
  /** Whether the same request may succeed later. */
  readonly mayPass?: boolean;
  /** Overrides the status of the type. */
  readonly status?: FailureStatus;
}

/** Codes not listed here are server errors: `api_error`. */
const TYPES: Partial<Record<ErrorCode, ApiErrorType>> = {
  invalid_input: "invalid_request_error",
  invalid_agent: "invalid_request_error",
  invalid_schema: "invalid_request_error",
  cwd_missing: "invalid_request_error",
  unsafe_owner: "permission_error",
  credential_missing: "invalid_request_error",
  unsupported: "invalid_request_error",
  workspace_invalid: "invalid_request_error",
  workspace_failed: "invalid_request_error",
  sandbox_missing: "invalid_request_error",
  hook_denied: "invalid_request_error",
  session_archived: "invalid_request_error",
  model_unknown: "invalid_request_error",
  credential_rejected: "invalid_request_error",
  limit_reached: "invalid_request_error",
  approval_pending: "conflict_error",
  approval_closed: "conflict_error",
  not_allowed: "permission_error",
  untrusted: "conflict_error",
  not_found: "not_found_error",
  session_busy: "conflict_error",
  session_ended: "conflict_error",
  store_conflict: "conflict_error",
  workspace_busy: "conflict_error",
  workspace_conflict: "conflict_error",
  too_large: "request_too_large",
  too_many: "rate_limit_error",
};

/** These messages are for the person who runs the server: they name files on its machine. */
const INSIDE: ReadonlySet<ErrorCode> = new Set([
  "store_locked",
  "store_corrupt",
  "store_newer",
  "store_full",
  "store_failed",
]);

/** Converts anything thrown to an API error. Unexpected errors reveal no internals. */
export function asApiFailure(thrown: unknown): ApiFailure {
  if (thrown instanceof ApiFailure) return thrown;
  if (thrown instanceof CapstanError) {
    const { code, data, message, retryable } = thrown;
    const retryAfter = typeof data["retryAfterSeconds"] === "number" ? data["retryAfterSeconds"] : undefined;
    const said = INSIDE.has(code) ? "The server's store failed. See the server's log for this request id." : message;
    return new ApiFailure(TYPES[code] ?? "api_error", said, {
      details: {
        error_code: code,
        ...(Array.isArray(data["problems"]) && { problems: data["problems"] }),
        ...(code === "approval_closed" && firstAnswer(data["answer"])),
      },
      mayPass: retryable || PASSING.has(code),
      ...(retryAfter !== undefined && { retryAfter }),
    });
  }
  return new ApiFailure("api_error", "The server failed. See its log for this request id.");
}

/** Who answered first, when and how; the rest of an answer may contain secrets. Undefined if nobody answered. */
function firstAnswer(answer: unknown): Readonly<Record<string, unknown>> {
  if (typeof answer !== "object" || answer === null) return {};
  const { by, at, behavior } = answer as StoredAnswer;
  return { by, at: new Date(at).toISOString(), behavior };
}

/** The error envelope. */
export function errorBody({ type, message, details }: ApiFailure, requestId: string): Record<string, unknown> {
  return {
    type: "error",
    error: { type, message, ...(Object.keys(details).length > 0 && { details }) },
    request_id: requestId,
  };
}
