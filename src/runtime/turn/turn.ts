import { CapstanError, type ErrorCode } from "../../core/errors.ts";
import type { EventOf, LoggedEvent, ModelUsage, Preview, StopReason } from "../../core/events/events.ts";
import { TurnTally } from "./turn-tally.ts";

/** Everything a session says from one message until it is idle again. A result is a collected stream, nothing else. */
export class Turn<Output = unknown> implements AsyncIterable<LoggedEvent | Preview> {
  readonly #stream: () => AsyncIterable<LoggedEvent | Preview>;
  #result: Promise<TurnResult<Output>> | undefined;

  constructor(stream: () => AsyncIterable<LoggedEvent | Preview>) {
    this.#stream = stream;
  }

  [Symbol.asyncIterator](): AsyncIterator<LoggedEvent | Preview> {
    return this.#stream()[Symbol.asyncIterator]();
  }

  /** Rejects with the turn's error when it stopped with `retries_exhausted`; every other stop is a result. */
  result(): Promise<TurnResult<Output>> {
    this.#result ??= collect<Output>(this.#stream());
    return this.#result;
  }
}

export interface TurnResult<Output = unknown> {
  readonly stopReason: StopReason;
  /** All the agent said on the primary line, in order. */
  readonly text: string;
  /** The structured output, when the agent has an output schema and the turn was completed. */
  readonly output: Output | undefined;
  readonly usage: ModelUsage;
  /** List price of the turn's model requests; null when one of them went to a model without a known price. */
  readonly usd: number | null;
  readonly limit: EventOf<"capstan.limit_reached"> | undefined;
}

async function collect<Output>(stream: AsyncIterable<LoggedEvent | Preview>): Promise<TurnResult<Output>> {
  const tally = new TurnTally();
  let failure: EventOf<"session.error"> | undefined;
  let limit: EventOf<"capstan.limit_reached"> | undefined;
  let idle: EventOf<"session.status_idle"> | undefined;
  for await (const event of stream) {
    if (event.type === "session.error") failure = event;
    else if (event.type === "capstan.limit_reached") limit = event;
    else if (event.type === "session.status_idle") idle = event;
    else if ("seq" in event) tally.add(event);
  }
  if (idle === undefined) throw new CapstanError("session_ended", "The session was closed before the turn ended.");
  if (idle.stop_reason.type === "retries_exhausted") throw turnError(failure);
  // Only an output that matched the schema is stored, so that its type holds for every reader of the log.
  const output = idle.output as Output | undefined;
  const { text, usage, usd } = tally;
  return { stopReason: idle.stop_reason, text, output, usage, usd, limit };
}

function turnError(failure: EventOf<"session.error"> | undefined): CapstanError {
  if (failure === undefined) return new CapstanError("engine_failed", "The turn failed without giving a reason.");
  const { code, message, http_status: status, stderr, retryable = false } = failure.error;
  return new CapstanError(code as ErrorCode, message, { data: { status, stderr }, retryable });
}
