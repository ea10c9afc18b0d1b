import type { AnswerSink } from "./answer-sink.ts";
import type { ErrorAnswer } from "./answer.ts";

const EVENT_STREAM = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

/**
 * Keeps the connection of a waiting request alive: an agent gives up after three minutes of silence. The first ping is
 * delayed, so that most answers still have their own status.
 */
export function keepAlive(res: AnswerSink, everyMs: number): Disposable {
  const timer = setInterval(() => {
    if (res.destroyed) return;
    if (!res.headersSent) res.writeHead(200, EVENT_STREAM);
    res.write('event: ping\ndata: {"type": "ping"}\n\n');
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Reports an error for an answer that has started with pings, as the API does in a stream. */
export function endWithError(res: AnswerSink, { type, message }: Pick<ErrorAnswer, "type" | "message">): void {
  if (!res.destroyed) res.end(`event: error\ndata: ${JSON.stringify({ type: "error", error: { type, message } })}\n\n`);
}
