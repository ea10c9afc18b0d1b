import type { ErrorEnvelope } from "../protocol/api/common.ts";

interface Facts {
  readonly status: number;
  readonly type: string;
  readonly requestId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** An error response of the server, or no response at all. */
export class CapstanApiError extends Error {
  override readonly name = "CapstanApiError";
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** Such as `not_found_error`; `connection_error` if there was no response. */
  readonly type: string;
  /** Identifies the request in the server's log. */
  readonly requestId: string | undefined;
  /** Capstan's code, as in docs/errors.md, if the server sent one. */
  readonly code: string | undefined;
  /** Further details: for an approval that was already answered, `by`, `at` and `behavior`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** In seconds: when a retry may succeed. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { status, type, requestId, details = {}, retryAfter, cause }: Facts) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.type = type;
    this.requestId = requestId;
    const { error_code: code } = details;
    this.code = typeof code === "string" ? code : undefined;
    this.details = details;
    this.retryAfter = retryAfter;
  }

  /** Whether a retry may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Reads the server's error envelope. A response without one comes from something in between, such as a proxy. */
export function refusalOf(
  body: unknown,
  { status, headers }: { readonly status: number; readonly headers: Headers },
): CapstanApiError {
  const requestId = headers.get("request-id") ?? undefined;
  const given = Number(headers.get("retry-after"));
  const retryAfter = given > 0 ? given : undefined;
  const envelope = isEnvelope(body) ? body : undefined;
  if (envelope === undefined) {
    const next =
      status === 429 || status >= 500
        ? "A proxy may be in front of a server that is down or busy: try again in a moment."
        : "Check the address.";
    return new CapstanApiError(`The response with status ${status} is not from a Capstan server. ${next}`, {
      status,
      type: "api_error",
      requestId,
      retryAfter,
    });
  }
  const { type, message, details } = envelope.error;
  return new CapstanApiError(message, {
    status,
    type,
    requestId: envelope.request_id,
    details,
    retryAfter,
  });
}

function isEnvelope(body: unknown): body is ErrorEnvelope {
  const error = (body as Partial<ErrorEnvelope> | null | undefined)?.error;
  return typeof error === "object" && error !== null && typeof error.message === "string";
}
