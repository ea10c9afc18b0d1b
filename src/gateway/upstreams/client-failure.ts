import { errorResponse, errorType } from "../answer.ts";
import { responseHeaders, withoutHeaders } from "../headers.ts";
import { NotSent, type UpstreamResponse } from "./upstream.ts";

const NEVER_CONNECTED = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

interface FailedRequest {
  /** The cloud's name. */
  readonly title: string;
  /** The model, by the name that the cloud was asked for. */
  readonly named: string;
  /** Taken out of what is said: some services quote what they refuse. */
  readonly secrets: readonly string[];
}

/** What the official clients throw, as far as it is of use. */
interface ClientError {
  readonly status?: unknown;
  readonly headers?: unknown;
  /** The body of the answer. */
  readonly error?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
}

/**
 * What a client threw as an answer in the API's own form, whatever the cloud's looks like, so that the agent and the
 * user read the cloud's words. Throws where there was no answer.
 */
export function clientFailure(thrown: unknown, { title, named, secrets }: FailedRequest): UpstreamResponse {
  const clean = (text: string): string => secrets.reduce((left, secret) => left.replaceAll(secret, "[redacted]"), text);
  const { status, headers, error, message: text } = thrown as ClientError;
  if (typeof status === "number") {
    const { type, message } = saidIn(error) ?? { type: undefined, message: String(text) };
    const about = status === 400 || status === 404 ? ` (the model was asked for as ${named})` : "";
    return errorResponse({
      status,
      type: type ?? errorType(status),
      message: clean(`${title}: ${message}${about}`),
      headers: headers instanceof Headers ? withoutHeaders(responseHeaders(headers), ["content-type"]) : [],
    });
  }
  const causes = causesOf(thrown);
  // No way to the cloud is for the gateway to tell, by the code, and may be over when the agent asks again.
  const unreachable = causes.find(({ code }) => typeof code === "string" && /^(?:E[A-Z]{3}|UND_ERR)/.test(code));
  if (unreachable !== undefined)
    throw NEVER_CONNECTED.test(String(unreachable.code)) ? new NotSent(unreachable) : unreachable;
  if (!/credentials/i.test(String(text))) throw thrown;
  // The clients fetch some credentials by themselves, and this one could not be had.
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
