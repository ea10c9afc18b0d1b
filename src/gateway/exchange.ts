import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../core/errors.ts";
import type { GatewaySession, ModelRequestInfo } from "../core/gateway.ts";
import { DO_NOT_RETRY, type ErrorAnswer, sendError } from "./answer.ts";
import { attributionOf } from "./attribution.ts";
import type { CredentialWait } from "./credential-wait.ts";
import { deliver, type Delivery, type RefusedRequest } from "./delivery.ts";
import type { ExpiredCredential } from "./expired-credential.ts";
import { newlySaid, newToolResults } from "./unanswered.ts";
import { forwardedRequestHeaders, headerList } from "./headers.ts";
import { endWithError } from "./held-answer.ts";
import { outlast, refuse } from "./refused-request.ts";
import type { Upstream } from "./upstream.ts";

/** One session at the gateway, and what is under way for it. */
export interface Admission {
  readonly session: GatewaySession;
  /** What its requests go to, and the pause that was asked for there. */
  readonly upstream: Upstream;
  readonly wait: CredentialWait;
  readonly expiry: ExpiredCredential;
  readonly responses: Set<ServerResponse>;
  /** Requests that were granted and are not settled yet. */
  readonly unsettled: Set<Promise<unknown>>;
}

export interface ExchangeDeps {
  readonly idleTimeoutMs: number;
}

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly admission: Admission;
  /** False for requests that cost nothing: these are neither reserved nor settled. */
  readonly metered: boolean;
}

/** The API itself takes 32 MB at most. */
const MAX_REQUEST = 64 << 20;
/** Only a stream has pings; an answer in one piece is silent until the model is done. */
const WHOLE_ANSWER_PATIENCE = 5;
/** Of a request that waits for another credential: a fourth of the time that the upstream may be silent. */
const PINGS_IN_PATIENCE = 4;

/** One request of an agent from its first byte to its settlement. */
export async function handleExchange(exchange: Exchange, deps: ExchangeDeps): Promise<void> {
  const { req, res, admission, metered } = exchange;
  const cut = new AbortController();
  res.once("close", () => cut.abort());
  const body = await readBody(req);
  if (body === undefined)
    return sendError(res, { status: 413, type: "request_too_large", message: "The request is too large." });
  const request = metered ? readRequest(body) : undefined;
  if (request !== undefined && "status" in request) return sendError(res, request);
  const headers = headerList(req.rawHeaders);
  const attribution = attributionOf(headers);
  const { engineAgentId, requestClass } = attribution;
  const asked: Asked = {
    info: request && {
      ...attribution,
      model: request.model,
      bytes: body.byteLength,
      maxTokens: request.maxTokens,
      billing: admission.upstream.billing,
      toolResults: request.toolResults,
      said: request.said,
    },
    request: {
      origin: { sessionId: admission.session.sessionId, engineAgentId, requestClass },
      method: req.method ?? "GET",
      path: req.url ?? "/",
      headers: forwardedRequestHeaders(headers),
      body: body.byteLength === 0 ? undefined : body,
    },
    idleTimeoutMs: deps.idleTimeoutMs * (request?.stream === false ? WHOLE_ANSWER_PATIENCE : 1),
  };
  // As often as another credential comes for one that has expired.
  for (;;) {
    const refused = await attempt(asked, { res, admission, cut });
    if (refused === undefined) return;
    const pingMs = request?.stream === true ? deps.idleTimeoutMs / PINGS_IN_PATIENCE : undefined;
    if (!(await outlast(refused, { res, admission, cut, pingMs }))) return refuse(refused, { res, admission, cut });
  }
}

/** What an agent asks, as often as it takes. */
interface Asked extends Pick<Delivery, "request" | "idleTimeoutMs"> {
  /** Absent for requests that cost nothing. */
  readonly info: ModelRequestInfo | undefined;
}

/** Reserves and sends. Gives back a refused credential; everything else is answered. */
async function attempt(
  { info, request, idleTimeoutMs }: Asked,
  { res, admission, cut }: Pick<Delivery, "res" | "cut"> & { readonly admission: Admission },
): Promise<RefusedRequest | undefined> {
  const { session, upstream, wait, expiry } = admission;
  const waiting = wait.answer();
  const grant = waiting ?? (info === undefined ? FREE : await reserve(session, info));
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
    settle: grant.settle,
    observe(status, answered) {
      // Counting tokens has limits of its own, which say nothing about messages.
      if (info !== undefined) wait.observe(status, answered);
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

const FREE: Grant = { settle: async () => {} };

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

/** Reads to the end in any case, so that the agent gets to see the answer; undefined when it is too large to keep. */
async function readBody(req: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    length += chunk.byteLength;
    if (length <= MAX_REQUEST) chunks.push(chunk);
  }
  return length <= MAX_REQUEST ? Buffer.concat(chunks) : undefined;
}

interface ReadRequest extends Pick<ModelRequestInfo, "model" | "maxTokens" | "toolResults" | "said"> {
  readonly stream: boolean;
}

function readRequest(body: Buffer): ReadRequest | ErrorAnswer {
  let request: unknown;
  try {
    request = JSON.parse(body.toString("utf8"));
  } catch {
    return { status: 400, type: "invalid_request_error", message: "The request body is not valid JSON." };
  }
  const { model, stream, max_tokens: most, messages } = (request ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof model !== "string" || model === "")
    return { status: 400, type: "invalid_request_error", message: "model: Field required" };
  const maxTokens = typeof most === "number" && most > 0 ? most : undefined;
  return {
    model,
    stream: stream === true,
    maxTokens,
    toolResults: newToolResults(messages),
    said: newlySaid(messages),
  };
}
