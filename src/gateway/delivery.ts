import type { AnswerSink } from "./answer-sink.ts";
import { messageOf } from "../core/errors.ts";
import type { ModelRequestOutcome } from "../core/ports/gateway.ts";
import { type ErrorAnswer, errorType, isRefusal, sendError } from "./answer.ts";
import type { CredentialRefusal } from "./credentials/expired-credential.ts";
import { forwardedResponseHeaders, headerValue, withoutHeaders } from "./headers.ts";
import { endWithError } from "./keep-alive.ts";
import { IdleTimer } from "./idle-timer.ts";
import {
  type HeaderList,
  NotSent,
  type Upstream,
  type UpstreamRequest,
  type UpstreamResponse,
} from "./upstreams/upstream.ts";
import { bodyMeter, errorMeter, NO_USAGE, streamMeter, type UsageMeter } from "./usage.ts";

export interface Delivery {
  readonly request: Omit<UpstreamRequest, "signal">;
  readonly upstream: Upstream;
  readonly res: AnswerSink;
  /** Ends the upstream request. Aborted from outside when the agent's connection ends. */
  readonly cut: AbortController;
  readonly idleTimeoutMs: number;
  /** May be called at every end that is detected; only the first call counts. */
  readonly settle: (outcome: ModelRequestOutcome) => Promise<void>;
  readonly observe: (status: number, headers: HeaderList) => void;
}

/** A refused credential that was not reported to the agent yet. */
export interface RefusedRequest extends CredentialRefusal {
  readonly type: string;
  /** The answer's headers that are passed to the agent. */
  readonly headers: HeaderList;
}

/** An answer that has started. */
interface Answer {
  readonly response: UpstreamResponse;
  readonly meter: UsageMeter;
}

const MAX_REJECTION = 64 << 10;

/**
 * Sends a granted request and passes the answer on, except for a refused credential, which is returned. Never rejects.
 * Always settles, and does so before the last byte is sent, so that nothing the agent does next precedes it in the log;
 * an answer that can't be settled is not delivered.
 */
export async function deliver(delivery: Delivery): Promise<RefusedRequest | undefined> {
  const { res, cut, upstream, settle } = delivery;
  const idle = new IdleTimer(delivery.idleTimeoutMs, () => cut.abort());
  let answer: Answer | undefined;
  try {
    idle.restart();
    if (cut.signal.aborted) throw new NotSent(cut.signal.reason);
    const response = await upstream.send({ ...delivery.request, signal: cut.signal });
    answer = { response, meter: meterFor(response) };
    delivery.observe(response.status, response.headers);
    if (isRefusal(response.status)) return await readRefusal(delivery, response);
    await relay(delivery, { answer, idle });
  } catch (error) {
    let failure = idle.expired ? TIMED_OUT : unreachable(error);
    await settle(error instanceof NotSent ? UNSENT : outcomeOf(answer, false)).catch((error: unknown) => {
      failure = accountingFailure(error);
    });
    if (res.headersSent) res.destroy();
    else sendError(res, failure);
  } finally {
    idle.stop();
  }
  return undefined;
}

async function relay({ res, settle }: Delivery, { answer, idle }: { answer: Answer; idle: IdleTimer }): Promise<void> {
  const { response, meter } = answer;
  const length = Number(headerValue(response.headers, "content-length") ?? Number.NaN);
  let received = 0;
  if (res.headersSent && !isEventStream(response)) return relayLate(res, { answer, settle });
  if (!res.headersSent) res.writeHead(response.status, forwardedResponseHeaders(response.headers).flat());
  res.flushHeaders();
  for await (const chunk of response.body) {
    // Time that we or the agent take does not count as the upstream's silence.
    idle.stop();
    meter.push(chunk);
    received += chunk.byteLength;
    if (meter.finished || received === length) await settle(outcomeOf(answer, true));
    if (!res.write(chunk)) await waitForDrain(res);
    idle.restart();
  }
  await settle(outcomeOf(answer, true));
  res.end();
}

/** The agent has waited so long that a stream was started for it, and the response is not a stream. */
async function relayLate(
  res: AnswerSink,
  { answer, settle }: { answer: Answer; settle: Delivery["settle"] },
): Promise<void> {
  const { response } = answer;
  const { type = errorType(response.status), message } = await readError(answer);
  await settle(outcomeOf(answer, true));
  endWithError(res, { type, message: message ?? `The model API returned ${response.status}.` });
}

async function readRefusal({ settle }: Delivery, response: UpstreamResponse): Promise<RefusedRequest> {
  const answer = { response, meter: meterFor(response) };
  const error = await readError(answer);
  await settle(outcomeOf(answer, true));
  const rewritten = ["content-encoding", "content-length", "content-type", "x-should-retry"];
  return {
    status: response.status,
    type: error.type ?? "permission_error",
    message: error.message ?? `The model API refused the credential with status ${response.status}.`,
    headers: withoutHeaders(forwardedResponseHeaders(response.headers), rewritten),
  };
}

async function readError({ response, meter }: Answer): Promise<{ type?: string; message?: string }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    meter.push(chunk);
    length += chunk.byteLength;
    if (length <= MAX_REJECTION) chunks.push(chunk);
  }
  try {
    const { error } = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { error?: Record<string, unknown> };
    const { type, message } = error ?? {};
    return { ...(typeof type === "string" && { type }), ...(typeof message === "string" && { message }) };
  } catch {
    return {};
  }
}

function meterFor(response: UpstreamResponse): UsageMeter {
  if (response.status >= 400) return errorMeter(response.status);
  return isEventStream(response) ? streamMeter() : bodyMeter();
}

function isEventStream({ headers }: UpstreamResponse): boolean {
  return headerValue(headers, "content-type")?.includes("text/event-stream") === true;
}

/** `whole`: the body is complete, as far as the connection shows. */
function outcomeOf(answer: Answer | undefined, whole: boolean): ModelRequestOutcome {
  if (answer === undefined) return NO_ANSWER;
  return { ...answer.meter.reading(), status: answer.response.status, isError: !whole || !answer.meter.complete };
}

/** The request was sent, and its outcome is unknown. */
const NO_ANSWER: ModelRequestOutcome = {
  isError: true,
  status: null,
  usage: NO_USAGE,
  stopReason: null,
  proven: "nothing",
};
const UNSENT: ModelRequestOutcome = { ...NO_ANSWER, proven: "all" };

function waitForDrain(res: AnswerSink): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      res.off("drain", finish).off("close", finish);
      resolve();
    };
    if (res.destroyed) resolve();
    else res.once("drain", finish).once("close", finish);
  });
}

const TIMED_OUT: ErrorAnswer = {
  status: 504,
  type: "timeout_error",
  message: "The model API did not answer in time.",
};

function unreachable(error: unknown): ErrorAnswer {
  const code = (error as NodeJS.ErrnoException).code ?? "no answer";
  return { status: 502, type: "api_error", message: `The model API could not be reached (${code}).` };
}

function accountingFailure(error: unknown): ErrorAnswer {
  return { status: 500, type: "api_error", message: `The request could not be accounted for: ${messageOf(error)}` };
}
