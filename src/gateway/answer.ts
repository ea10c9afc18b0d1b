import type { AnswerSink } from "./answer-sink.ts";
import type { HeaderList, UpstreamResponse } from "./upstreams/upstream.ts";

/** Without it, the agent would retry up to ten times, for minutes. */
export const DO_NOT_RETRY: HeaderList = [["x-should-retry", "false"]];

/** An answer of the gateway itself, in the API's error envelope. */
export interface ErrorAnswer {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly headers?: HeaderList;
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};

/** The API's error type for this status. */
export function errorType(status: number): string {
  return TYPES[status] ?? "api_error";
}

/** Whether the error is about the credential. */
export function isRefusal(status: number): boolean {
  return status === 401 || status === 403;
}

export function sendError(res: AnswerSink, answer: ErrorAnswer): void {
  const { body, headers } = envelope(answer);
  // The request may be unread or the agent gone: neither needs an error here.
  if (!res.headersSent && !res.destroyed) res.writeHead(answer.status, headers.flat()).end(body);
}

/** The same as an answer of an upstream. */
export function errorResponse(answer: ErrorAnswer): UpstreamResponse {
  const { body, headers } = envelope(answer);
  return { status: answer.status, headers, body: once(body) };
}

function envelope({ type, message, headers = [] }: ErrorAnswer): { body: Buffer; headers: HeaderList } {
  const body = Buffer.from(JSON.stringify({ type: "error", error: { type, message } }));
  return {
    body,
    headers: [["content-type", "application/json"], ["content-length", String(body.byteLength)], ...headers],
  };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
