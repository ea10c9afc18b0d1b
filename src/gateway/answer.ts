import type { ServerResponse } from "node:http";
import type { HeaderList } from "./upstream.ts";

/** Without it the agent would ask again, up to ten times and for minutes. */
export const DO_NOT_RETRY: HeaderList = [["x-should-retry", "false"]];

/** An answer of the gateway's own, in the API's error envelope. */
export interface ErrorAnswer {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  readonly headers?: HeaderList;
}

export function sendError(res: ServerResponse, answer: ErrorAnswer): void {
  const body = JSON.stringify({ type: "error", error: { type: answer.type, message: answer.message } });
  const headers: HeaderList = [
    ["content-type", "application/json"],
    ["content-length", String(Buffer.byteLength(body))],
    ...(answer.headers ?? []),
  ];
  // The request may be unread or the agent gone: neither is worth an error here.
  if (!res.headersSent && !res.destroyed) res.writeHead(answer.status, headers.flat()).end(body);
}
