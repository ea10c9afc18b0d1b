import { errorResponse, errorType } from "../answer.ts";
import { responseHeaders, withoutHeaders } from "../headers.ts";
import { NotSent, type UpstreamResponse } from "./upstream.ts";

const NEVER_CONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

interface FailedRequest {
  /** The cloud's name. */
  readonly title: string;
  /** The cloud's name for the requested model. */
  readonly named: string;
  /** Removed from messages: some services quote what they refuse. */
  readonly secrets: readonly string[];
}

/** The useful part of what the official clients throw. */
interface ClientError {
  readonly status?: unknown;
  readonly headers?: unknown;
  /** The response body. */
  readonly error?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
}

/**
 * Converts an error of a client to an answer in the API's own form, so that the agent and the user see the cloud's
 * message. Throws if there was no answer.
 */
export function clientFailure(thrown: unknown, { title, named, secrets }: FailedRequest): UpstreamResponse {
  const clean = (text: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, "[redacted]"), text);
  const { status, headers, error, message: text } = thrown as ClientError;
  if (typeof status === "number") {
    const { type, message } = saidIn(error) ?? { type: undefined, message: String(text) };
    const about = status === 400 || status === 404 ? ` (model name at the provider: ${named})` : "";
    return errorResponse({
      status,
      type: type ?? errorType(status),
      message: clean(`${title}: ${message}${about}`),
      headers: headers instanceof Headers ? withoutHeaders(responseHeaders(headers), ["content-type"]) : [],
    });
  }
  const causes = causesOf(thrown);
  // The gateway reports a failed connection by its code; it may work again when the agent retries.
  const unreachable = causes.find(({ code }) => typeof code === "string" && /^(?:E[A-Z]{3}|UND_ERR)/.test(code));
  if (unreachable !== undefined)
    throw NEVER_CONNECTED.test(String(unreachable.code)) ? new NotSent(unreachable) : unreachable;
  if (!/credentials/i.test(String(text))) throw thrown;
  // The clients fetch some credentials themselves, and this one was not available.
  const message = clean(`${title}: ${causes.map((cause) => String(cause.message)).join(" ")}`);
  return errorResponse({ status: 401, type: "authentication_error", message });
}

/** `{ error: { type, message } }` of Anthropic and Google, or `{ message }` of Amazon. Google may put it in a list. */
function saidIn(body: unknown): { readonly type: string | undefined; readonly message: string } | undefined {
  const outer = object(Array.isArray(body) ? (body as readonly unknown[])[0] : body);
  const inner = object(outer?.["error"]) ?? outer;
  const message = inner?.["message"] ?? inner?.["Message"];
  if (typeof message !== "string") return undefined;
  const type = inner?.["type"];
  return { type: typeof type === "string" ? type : undefined, message };
}

function causesOf(thrown: unknown): readonly ClientError[] {
  const causes: ClientError[] = [];
  for (let one = object(thrown); one !== undefined && causes.length < 5; one = object(one["cause"])) causes.push(one);
  return causes;
}

function object(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
