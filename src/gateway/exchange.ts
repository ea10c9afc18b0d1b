import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "../core/errors.ts";
import type { GatewaySession, ModelRequestInfo } from "../core/gateway.ts";
import { DO_NOT_RETRY, type ErrorAnswer, sendError } from "./answer.ts";
import { attributionOf } from "./attribution.ts";
import type { CredentialWait } from "./credential-wait.ts";
import { deliver, type Delivery } from "./delivery.ts";
import { newToolResults } from "./tool-results.ts";
import { forwardedRequestHeaders, headerList } from "./headers.ts";
import type { Upstream } from "./upstream.ts";

/** One session at the gateway, and what is under way for it. */
export interface Admission {
  readonly session: GatewaySession;
  /** What its requests go to, and the pause that was asked for there. */
  readonly upstream: Upstream;
  readonly wait: CredentialWait;
  readonly responses: Set<ServerResponse>;
  /** Requests that were granted and are not settled yet. */
  readonly unsettled: Set<Promise<void>>;
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
  const waiting = admission.wait.answer();
  if (waiting !== undefined) return sendError(res, waiting);

  const headers = headerList(req.rawHeaders);
  const grant =
    request === undefined
      ? FREE
      : await reserve(admission.session, {
          ...attributionOf(headers),
          model: request.model,
          bytes: body.byteLength,
          maxTokens: request.maxTokens,
          billing: admission.upstream.billing,
          toolResults: request.toolResults,
        });
  if ("status" in grant) return sendError(res, grant);
  const delivery = deliver({
    request: {
      method: req.method ?? "GET",
      path: req.url ?? "/",
      headers: forwardedRequestHeaders(headers),
      body: body.byteLength === 0 ? undefined : body,
    },
    upstream: admission.upstream,
    res,
    cut,
    idleTimeoutMs: deps.idleTimeoutMs * (request?.stream === false ? WHOLE_ANSWER_PATIENCE : 1),
    settle: grant.settle,
    observe(status, answered) {
      // Counting tokens has limits of its own, which say nothing about messages.
      if (metered) admission.wait.observe(status, answered);
    },
    credentialRejected: (status, message) => admission.session.credentialRejected(status, message),
  });
  admission.unsettled.add(delivery);
  await delivery;
  admission.unsettled.delete(delivery);
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

interface ReadRequest extends Pick<ModelRequestInfo, "model" | "maxTokens" | "toolResults"> {
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
  return { model, stream: stream === true, maxTokens, toolResults: newToolResults(messages) };
}
