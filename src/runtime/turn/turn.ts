import { CapstanError, type ErrorCode } from "../../core/errors.ts";
import type {
  EventOf,
  LoggedEvent,
  ModelUsage,
  Preview,
  SessionEvent,
  StopReason,
  StoredEvent,
} from "../../core/events/events.ts";
import type { Store } from "../../core/ports/store.ts";
import { addUsage } from "../../core/session/state-spend.ts";
import { textOf } from "../../core/text/text.ts";

/** Everything a session reports from one message until it is idle again. A result is this stream, collected. */
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
  /** All the agent said on the primary thread, in order. */
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
  // Only an output that matched the schema is stored, so its type holds for every reader of the log.
  const output = idle.output as Output | undefined;
  const { text, usage, usd } = tally;
  return { stopReason: idle.stop_reason, text, output, usage, usd, limit };
}

function turnError(failure: EventOf<"session.error"> | undefined): CapstanError {
  if (failure === undefined) return new CapstanError("engine_failed", "The turn failed without giving a reason.");
  const { code, message, http_status: status, stderr, retryable = false } = failure.error;
  return new CapstanError(code as ErrorCode, message, { data: { status, stderr }, retryable });
}

/** What the events of a turn add up to. */
class TurnTally {
  readonly #texts: string[] = [];
  usage: ModelUsage = {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  /** List price; null when a model without a known price was used. */
  usd: number | null = 0;

  /** All the agent said on the primary thread. */
  get text(): string {
    return this.#texts.join("\n");
  }

  add(event: SessionEvent): void {
    if (event.type === "agent.message" && event.session_thread_id == null) this.#texts.push(textOf(event.content));
    else if (event.type === "span.model_request_end") {
      this.usage = addUsage(this.usage, event.model_usage);
      this.usd = this.usd === null || event.usd === null ? null : this.usd + event.usd;
    }
  }
}

const PAGE = 200;

/** The tally of the turn that ends at `end`, read from the log because the turn may have begun in another process. */
export async function tallyOf(
  store: Store,
  { sessionId, end }: { sessionId: string; end: number },
): Promise<TurnTally> {
  let events: readonly StoredEvent[] = [];
  for (let upTo = end - 1; upTo > 0; upTo -= PAGE) {
    const page = await store.events(sessionId, { after: Math.max(0, upTo - PAGE), upTo });
    const before = page.findLastIndex(({ event }) => isEnd(event));
    events = [...page.slice(before + 1), ...events];
    if (before >= 0) break;
  }
  // A fork's copied history comes before its first turn.
  const start = events.findIndex(({ event }) => event.type === "session.status_running");
  const tally = new TurnTally();
  for (const { event } of start < 0 ? [] : events.slice(start)) tally.add(event);
  return tally;
}

/** A turn that waits for a person is not over. */
function isEnd(event: SessionEvent): boolean {
  return event.type === "session.status_idle" && event.stop_reason.type !== "requires_action";
}
