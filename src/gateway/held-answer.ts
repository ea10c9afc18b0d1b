import type { AnswerSink } from "./answer-sink.ts";
import type { ErrorAnswer } from "./answer.ts";

const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

/**
 * Keeps the connection of a request alive that waits: an agent that hears nothing for three minutes gives up. The first
 * ping goes out only after a while, so that most answers still have a status of their own.
 */
export function keepAlive(res: AnswerSink, everyMs: number): Disposable {
  const timer = setInterval(() => {
    if (res.destroyed) return;
    if (!res.headersSent) res.writeHead(200, EVENT_STREAM);
    res.write('event: ping\ndata: {"type": "ping"}\n\n');
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** An error for a request whose answer has begun with pings, as the API itself tells one in a stream. */
export function endWithError(res: AnswerSink, { type, message }: Pick<ErrorAnswer, "type" | "message">): void {
  if (!res.destroyed) res.end(`event: error\ndata: ${JSON.stringify({ type: "error", error: { type, message } })}\n\n`);
}
