import type { Fault } from "../../core/suite/fault-schema.ts";
import type { RequestOrigin, UpstreamRequest, UpstreamResponse } from "../upstreams/upstream.ts";
import { breakAfter, holdAfter, once, plainAnswer } from "./answer-parts.ts";

const TYPES = { 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error" } as const;

/** Counts the requests of a case, and decides which of them fail and how. */
export class Faults {
  readonly #faults: readonly Fault[];
  readonly #counts = { main: 0, subagent: 0 };
  readonly #met = new Set<Fault>();

  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
  }

  /** The fault for the current request; undefined if it is answered normally. */
  next(origin: RequestOrigin): Fault | undefined {
    const thread = origin.engineAgentId === undefined ? "main" : "subagent";
    // Auxiliary requests do not count.
    if (origin.requestClass === "auxiliary") return undefined;
    const number = (this.#counts[thread] += 1);
    const found = this.#faults.find((one) => one.thread === thread && number >= one.at && number < one.at + one.times);
    if (found !== undefined) this.#met.add(found);
    return found;
  }

  /** Faults for requests that never came. */
  get unmet(): readonly Fault[] {
    return this.#faults.filter((one) => !this.#met.has(one));
  }
}

/** The response in place of an answer. */
export async function faulty(
  fault: Fault,
  { signal }: Pick<UpstreamRequest, "signal">,
  kill: () => Promise<void>,
): Promise<UpstreamResponse> {
  const headers = [["content-type", "text/event-stream; charset=utf-8"]] as const;
  switch (fault.kind) {
    case 429:
    case 500:
    case 529:
      return plainAnswer(
        fault.kind,
        { type: "error", error: { type: TYPES[fault.kind], message: `An injected fault: ${fault.kind}` } },
        fault.retry_after === undefined ? [] : [["retry-after", String(fault.retry_after)]],
      );
    case "stall":
      return { status: 200, headers, body: holdAfter(BEGINNING, signal) };
    case "drop":
      return { status: 200, headers, body: breakAfter(BEGINNING) };
    case "garbage":
      return { status: 200, headers, body: once("event: message_start\ndata: {this is no answer\n\n") };
    case "kill":
      await kill();
      return { status: 200, headers, body: holdAfter("", signal) };
  }
}

/** Enough of a stream that the agent waits for the rest. */
const BEGINNING = `event: message_start\ndata: ${JSON.stringify({
  type: "message_start",
  message: {
    id: "msg_fault",
    type: "message",
    role: "assistant",
    model: "fault",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 0 },
  },
})}\n\n`;
