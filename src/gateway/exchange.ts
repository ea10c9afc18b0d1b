import type { RequestSize } from "../core/money/budget-estimate.ts";
import { messageOf } from "../core/errors.ts";
import type { GatewaySession, ModelRequestInfo } from "../core/ports/gateway.ts";
import { DO_NOT_RETRY, type ErrorAnswer, sendError } from "./answer.ts";
import type { AnswerSink } from "./answer-sink.ts";
import { attributionOf } from "./attribution.ts";
import type { CredentialWait } from "./credentials/credential-wait.ts";
import { deliver, type Delivery, type RefusedRequest } from "./delivery.ts";
import type { ExpiredCredential } from "./credentials/expired-credential.ts";
import { newlySaid, newToolResults } from "./new-messages.ts";
import { forwardedRequestHeaders } from "./headers.ts";
import { endWithError } from "./keep-alive.ts";
import { outlast, sendRefusal } from "./refused-request.ts";
import { measureRequest } from "./request-size.ts";
import type { HeaderList, Upstream } from "./upstreams/upstream.ts";
import { NO_USAGE } from "./usage.ts";

/** One session at the gateway, with its running requests. */
export interface AdmittedSession {
  readonly session: GatewaySession;
  /** Where its requests go, and the pause that was requested there. */
  readonly upstream: Upstream;
  readonly wait: CredentialWait;
  readonly expiry: ExpiredCredential;
  readonly responses: Set<AnswerSink>;
  /** Granted requests that are not settled yet. */
  readonly unsettled: Set<Promise<unknown>>;
}

export interface ExchangeDeps {
  readonly idleTimeoutMs: number;
}

export interface Exchange {
  readonly res: AnswerSink;
  readonly headers: HeaderList;
  readonly isBeta: boolean;
  readonly body: AsyncIterable<Buffer> | Iterable<Buffer>;
  readonly admission: AdmittedSession;
  readonly route: Route;
}

/** A route that the gateway serves. */
export interface Route {
  readonly name: string;
  readonly method: "POST";
  readonly path: string;
  /** It is free: recorded like all others, but reserves nothing. */
  readonly isFree: boolean;
}

/** A request without the engine's labels was sent by something else, such as a command of the agent. */
const NOT_OF_THE_ENGINE: ErrorAnswer = {
  status: 403,
  type: "permission_error",
  message: "Only the agent itself may use the model. To use a model from a program, start a separate session.",
  headers: DO_NOT_RETRY,
};

const CLOSED = new Error("The connection of the agent was closed.");
/** The API's own limit is 32 MB. */
const MAX_REQUEST = 64 << 20;
/** Only a stream has pings; a non-streaming answer is silent until the model is done. */
const WHOLE_ANSWER_PATIENCE = 5;
/** Pings for a request that waits for a new credential: every quarter of the allowed silence. */
const PINGS_IN_PATIENCE = 4;

/** One request of an agent, from its first byte to its settlement. */
export async function handleExchange(exchange: Exchange, deps: ExchangeDeps): Promise<void> {
  const { res, admission, route, headers, isBeta } = exchange;
  const cut = new AbortController();
  // With our own reason: creating Node's takes long, and nobody reads it when the answer is complete.
  res.once("close", () => cut.abort(CLOSED));
  const body = await readBody(exchange.body);
  if (body === undefined)
    return sendError(res, { status: 413, type: "request_too_large", message: "The request is too large." });
  const request = readRequest(body);
  if ("status" in request) return sendError(res, request);
  const attribution = attributionOf(headers);
  if (attribution === undefined) return sendError(res, NOT_OF_THE_ENGINE);
  const { engineAgentId } = attribution;
  const requestClass = route.isFree ? route.name : attribution.requestClass;
  const asked: Asked = {
    info: {
      engineAgentId,
      requestClass,
      model: request.model,
      size: route.isFree ? undefined : request.size,
      billing: admission.upstream.billing,
      toolResults: route.isFree ? [] : request.toolResults,
      said: route.isFree ? "" : request.said,
    },
    isFree: route.isFree,
    request: {
      origin: { sessionId: admission.session.sessionId, engineAgentId, requestClass },
      method: route.method,
      path: route.path + (isBeta ? "?beta=true" : ""),
      headers: forwardedRequestHeaders(headers),
      body,
    },
    idleTimeoutMs: deps.idleTimeoutMs * (request.stream ? 1 : WHOLE_ANSWER_PATIENCE),
  };
  // Repeats each time a new credential replaces an expired one.
  for (;;) {
    const refused = await attempt(asked, { res, admission, cut });
    if (refused === undefined) return;
    const pingMs = request.stream ? deps.idleTimeoutMs / PINGS_IN_PATIENCE : undefined;
    if (!(await outlast(refused, { res, admission, cut, pingMs })))
      return sendRefusal(refused, { res, admission, cut });
  }
}

/** An agent's request, for all attempts. */
interface Asked extends Pick<Delivery, "request" | "idleTimeoutMs"> {
  readonly info: ModelRequestInfo;
  readonly isFree: boolean;
}

/** Reserves and sends. Returns a refused credential; everything else is answered. */
async function attempt(
  { info, isFree, request, idleTimeoutMs }: Asked,
  { res, admission, cut }: Pick<Delivery, "res" | "cut"> & { readonly admission: AdmittedSession },
): Promise<RefusedRequest | undefined> {
  const { session, upstream, wait, expiry } = admission;
  const waiting = wait.answer();
  const grant = waiting ?? (await reserve(session, info));
  if ("status" in grant) {
    if (res.headersSent) endWithError(res, grant);
    else sendError(res, grant);
    return undefined;
  }
  const delivery = deliver({
    request,
    upstream,
    res,
    cut,
    idleTimeoutMs,
    settle: isFree ? (outcome) => grant.settle({ ...outcome, usage: NO_USAGE, proven: "all" }) : grant.settle,
    observe(status, answered) {
      // Counting tokens has separate limits, which say nothing about messages.
      if (!isFree) wait.observe(status, answered);
      expiry.observe(status);
    },
  });
  admission.unsettled.add(delivery);
  try {
    return await delivery;
  } finally {
    admission.unsettled.delete(delivery);
  }
}

type Grant = Pick<Delivery, "settle">;

async function reserve(session: GatewaySession, info: ModelRequestInfo): Promise<Grant | ErrorAnswer> {
  try {
    const reservation = await session.reserve(info);
    if (!reservation.granted)
      return { status: 403, type: "permission_error", message: reservation.message, headers: DO_NOT_RETRY };
    let settled: Promise<void> | undefined;
    return { settle: (outcome) => (settled ??= (async () => session.settle(reservation.token, outcome))()) };
  } catch (error) {
    return { status: 500, type: "api_error", message: `Nothing was sent to the model: ${messageOf(error)}` };
  }
}

/** Always reads to the end, so that the agent sees the answer; undefined if it is too large to keep. */
async function readBody(parts: Exchange["body"]): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of parts) {
    length += chunk.byteLength;
    if (length <= MAX_REQUEST) chunks.push(chunk);
  }
  return length <= MAX_REQUEST ? Buffer.concat(chunks) : undefined;
}

interface ReadRequest extends Pick<ModelRequestInfo, "model" | "toolResults" | "said"> {
  readonly size: RequestSize;
  readonly stream: boolean;
}

/** Clouds put the name into a URL, so it must not lead anywhere else. */
const MODEL_NAME = /^(?!.*\.\.)[A-Za-z0-9][\w.:@/[\]-]{0,255}$/;

function readRequest(body: Buffer): ReadRequest | ErrorAnswer {
  let request: unknown;
  try {
    request = JSON.parse(body.toString("utf8"));
  } catch {
    return { status: 400, type: "invalid_request_error", message: "The request body is not valid JSON." };
  }
  if (typeof request !== "object" || request === null || Array.isArray(request))
    return { status: 400, type: "invalid_request_error", message: "The request body is not an object." };
  const { model, stream, messages } = request as Readonly<Record<string, unknown>>;
  if (typeof model !== "string" || model === "")
    return { status: 400, type: "invalid_request_error", message: "model: Field required" };
  if (!MODEL_NAME.test(model))
    return { status: 400, type: "invalid_request_error", message: "model: not the name of a model" };
  const size = measureRequest(request as Readonly<Record<string, unknown>>, body.byteLength);
  return {
    model,
    stream: stream === true,
    size,
    toolResults: newToolResults(messages),
    said: newlySaid(messages),
  };
}
