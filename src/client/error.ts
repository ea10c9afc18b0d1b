import type { ErrorEnvelope } from "../protocol/api/common.ts";

interface Facts {
  readonly status: number;
  readonly type: string;
  readonly requestId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** A refusal of the server, or that there was no answer at all. */
export class CapstanApiError extends Error {
  override readonly name = "CapstanApiError";
  /** Of the answer; 0 when there was none. */
  readonly status: number;
  /** Such as `not_found_error`; `connection_error` when there was no answer. */
  readonly type: string;
  /** Names the request in the server's log. */
  readonly requestId: string | undefined;
  /** Capstan's own code, as in docs/errors.md, where the server gave one. */
  readonly code: string | undefined;
  /** What else the server said of it: for an approval that somebody has answered, `by`, `at` and `behavior`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** In seconds: when the same request may succeed. */
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

  /** The same request may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** What a server said in its envelope; what is no envelope comes from something in between. */
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
        ? "Perhaps a proxy before a server that is down or busy: try again in a moment."
        : "Check its address.";
    return new CapstanApiError(`Something answered with status ${status} that is no Capstan server. ${next}`, {
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
