import { modelError, type ModelFailureKind } from "../../model-failure.ts";
import type { CapstanError } from "../../../core/errors.ts";

/** A model request that got no answer. */
export class RequestFailure extends Error {
  readonly status: number | null;
  readonly kind: ModelFailureKind;
  /** Whether the same request may be sent again. */
  readonly isRetryable: boolean;
  /** The wait that the API asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor({
    status,
    kind,
    message,
    isRetryable,
    retryAfterMs,
  }: {
    readonly status: number | null;
    readonly kind: ModelFailureKind;
    readonly message: string;
    readonly isRetryable: boolean;
    readonly retryAfterMs?: number | undefined;
  }) {
    super(message);
    this.status = status;
    this.kind = kind;
    this.isRetryable = isRetryable;
    this.retryAfterMs = retryAfterMs;
  }

  /** The conversation has more tokens than the model accepts. */
  get isOverflow(): boolean {
    return this.status === 400 && /prompt is too long|exceeds? .*context|context (window|length)/i.test(this.message);
  }

  /** The model does not accept an image or a document in the conversation. */
  get isAboutMedia(): boolean {
    return this.status === 400 && !this.isOverflow && /\b(?:images?|documents?|pdfs?|media)\b/i.test(this.message);
  }

  /** The error that ends the turn. */
  get error(): CapstanError {
    return modelError(this.status, { kind: this.kind, text: this.message });
  }
}

/** No answer arrived, or an unreadable one. The next attempt may succeed. */
export function unreadableAnswer(message: string): RequestFailure {
  return new RequestFailure({ status: null, kind: "server_error", message, isRetryable: true });
}

/** A response with a status of 400 or more. */
export function refusedBy(
  status: number,
  { body, header }: { readonly body: string; readonly header: (name: string) => string | undefined },
): RequestFailure {
  const { type, message } = readError(body);
  const wanted = header("x-should-retry");
  const usual = status === 408 || status === 409 || status === 429 || status >= 500;
  return new RequestFailure({
    status,
    kind: kindOf(status, type),
    message: message ?? `It returned status ${status}.`,
    isRetryable: wanted === undefined ? usual : wanted === "true",
    retryAfterMs: waitOf(header("retry-after-ms"), 1) ?? waitOf(header("retry-after"), 1_000),
  });
}

const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded_error: 529,
};

/** An error in the middle of a stream. */
export function failedInStream(error: unknown): RequestFailure {
  const { type, message } = errorFields(error);
  const status = STATUSES[type ?? ""] ?? 500;
  return new RequestFailure({
    status,
    kind: kindOf(status, type),
    message: message ?? "It failed while streaming its answer.",
    isRetryable: status === 429 || status >= 500,
  });
}

function kindOf(status: number, type: string | undefined): ModelFailureKind {
  if (type === "billing_error") return "billing_error";
  switch (status) {
    case 400:
    case 413:
    case 422:
      return "invalid_request";
    case 401:
    case 403:
      return "authentication_failed";
    case 404:
      return "model_not_found";
    case 429:
      return "rate_limit";
    case 529:
      return "overloaded";
    default:
      return "server_error";
  }
}

function readError(body: string): { readonly type?: string; readonly message?: string } {
  try {
    return errorFields((JSON.parse(body) as { error?: unknown } | null)?.error);
  } catch {
    return {};
  }
}

function errorFields(error: unknown): { readonly type?: string; readonly message?: string } {
  if (typeof error !== "object" || error === null) return {};
  const { type, message } = error as Readonly<Record<string, unknown>>;
  return { ...(typeof type === "string" && { type }), ...(typeof message === "string" && { message }) };
}

function waitOf(value: string | undefined, unit: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * unit;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
