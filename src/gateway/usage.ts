import type { ModelUsage } from "../core/events/events.ts";
import type { Proven } from "../core/money/budget-estimate.ts";

/** Measures the cost of an answer while its bytes pass through. It never changes, delays or rejects them. */
export interface UsageMeter {
  push(chunk: Uint8Array): void;
  /** The answer says that it is complete: its reader may act on it now. */
  readonly finished: boolean;
  /** The bytes are consistent with a complete answer, if no more follow. */
  readonly complete: boolean;
  reading(): UsageReading;
}

export interface UsageReading {
  readonly usage: ModelUsage;
  readonly stopReason: string | null;
  /** Without the final usage, output tokens are estimated from the text received. */
  readonly proven: Proven;
}

export const NO_USAGE: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

const BYTES_PER_TOKEN = 4;
/** Longer lines are skipped: they are not usage reports, and an endless one must not fill the memory. */
const MAX_LINE = 1 << 20;
const MAX_BODY = 64 << 20;
const MAX_ERROR = 64 << 10;
const LINE_FEED = 0x0a;

/**
 * For `text/event-stream`. Only events with usage are parsed as JSON; deltas are measured by length. Relies on the
 * API's format: one `data:` line per event.
 */
export function streamMeter(): UsageMeter {
  let partial: Uint8Array[] = [];
  let partialLength = 0;
  let usage = NO_USAGE;
  let stopReason: string | null = null;
  let textBytes = 0;
  let final = false;
  let finished = false;
  let failed = false;
  let started = false;

  function readLine(line: Buffer): void {
    if (!line.subarray(0, 5).equals(DATA)) return;
    if (line.includes(CONTENT_BLOCK_DELTA)) textBytes += deltaBytes(line);
    else if (REPORTS.some((name) => line.includes(name))) readReport(parse(line.subarray(5)));
  }

  function readReport(event: JsonObject | undefined): void {
    switch (event?.["type"]) {
      case "message_start":
        usage = mergeUsage(usage, object(object(event["message"])?.["usage"]));
        started ||= typeof object(object(event["message"])?.["usage"])?.["input_tokens"] === "number";
        break;
      case "message_delta":
        usage = mergeUsage(usage, object(event["usage"]));
        stopReason = text(object(event["delta"])?.["stop_reason"]) ?? stopReason;
        final ||= typeof object(event["usage"])?.["output_tokens"] === "number";
        break;
      case "message_stop":
        finished = true;
        break;
      case "error":
        finished = true;
        failed = true;
        break;
      default:
    }
  }

  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
        const piece = chunk.subarray(start, end);
        if (partialLength + piece.length <= MAX_LINE) readLine(joinChunks(partial, piece));
        partial = [];
        partialLength = 0;
        start = end + 1;
      }
      const rest = chunk.subarray(start);
      partialLength += rest.length;
      if (partialLength > MAX_LINE) partial = [];
      else if (rest.length > 0) partial.push(rest);
    },
    get finished() {
      return finished;
    },
    get complete() {
      return finished && !failed;
    },
    reading() {
      // An error before the first word is the whole answer.
      if (final || (failed && !started)) return { usage, stopReason, proven: "all" };
      return { usage: atLeast(usage, textBytes), stopReason, proven: started ? "input" : "nothing" };
    },
  };
}

/** For a non-streaming answer. */
export function bodyMeter(): UsageMeter {
  const chunks: Uint8Array[] = [];
  let length = 0;
  return {
    push(chunk) {
      length += chunk.length;
      if (length <= MAX_BODY) chunks.push(chunk);
    },
    finished: false,
    complete: true,
    reading() {
      const body = length <= MAX_BODY ? parse(Buffer.concat(chunks)) : undefined;
      const reported = object(body?.["usage"]);
      const usage = mergeUsage(NO_USAGE, reported);
      return {
        usage: reported === undefined ? atLeast(usage, length) : usage,
        stopReason: text(body?.["stop_reason"]) ?? null,
        proven: reported === undefined ? "nothing" : "all",
      };
    },
  };
}

/** For an error. Below 500 the request was refused; above, only the provider's message says what happened. */
export function errorMeter(status: number): UsageMeter {
  let said: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      if (said.length + chunk.length <= MAX_ERROR) said = Buffer.concat([said, chunk]);
    },
    finished: false,
    complete: false,
    reading() {
      const type = object(parse(said)?.["error"])?.["type"];
      return { usage: NO_USAGE, stopReason: null, proven: isDefinite(status, type) ? "all" : "nothing" };
    },
  };
}

/** Whether an error says that nothing was generated. Timeouts leave that open. */
function isDefinite(status: number, type: unknown): boolean {
  if (status < 500) return status !== 408;
  return typeof type === "string" && type !== "timeout_error";
}

const DATA = Buffer.from("data:");
/** Quoted, so that the same words inside a text do not match: there the quotes are escaped. */
const CONTENT_BLOCK_DELTA = Buffer.from('"content_block_delta"');
const REPORTS = ["message_start", "message_delta", "message_stop", "error"].map((name) => Buffer.from(`"${name}"`));
const DELTA_TEXTS = ['"text":"', '"thinking":"', '"partial_json":"'].map((key) => Buffer.from(key));

/** The length of a delta's text, from its key to the end of the line less the closing `"}}`. */
function deltaBytes(line: Buffer): number {
  for (const key of DELTA_TEXTS) {
    const at = line.indexOf(key);
    if (at !== -1) return Math.max(0, line.length - at - key.length - 3);
  }
  return 0;
}

/** Figures are cumulative, so a later one replaces an earlier one. */
function mergeUsage(usage: ModelUsage, reported: JsonObject | undefined): ModelUsage {
  const figure = (name: string, before: number, where = reported): number => {
    const value = where?.[name];
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : before;
  };
  const written = figure("cache_creation_input_tokens", usage.cache_creation_input_tokens);
  const oneHour = figure(
    "ephemeral_1h_input_tokens",
    usage.cache_creation_1h_input_tokens ?? 0,
    object(reported?.["cache_creation"]),
  );
  const searches = figure("web_search_requests", usage.web_search_requests ?? 0, object(reported?.["server_tool_use"]));
  return {
    input_tokens: figure("input_tokens", usage.input_tokens),
    output_tokens: figure("output_tokens", usage.output_tokens),
    cache_read_input_tokens: figure("cache_read_input_tokens", usage.cache_read_input_tokens),
    cache_creation_input_tokens: written,
    // Cached for five minutes unless an hour is stated.
    ...(oneHour > 0 && { cache_creation_1h_input_tokens: Math.min(oneHour, written) }),
    ...(searches > 0 && { web_search_requests: searches }),
  };
}

function atLeast(usage: ModelUsage, bytes: number): ModelUsage {
  return { ...usage, output_tokens: Math.max(usage.output_tokens, Math.ceil(bytes / BYTES_PER_TOKEN)) };
}

type JsonObject = Readonly<Record<string, unknown>>;

function parse(bytes: Buffer): JsonObject | undefined {
  try {
    return object(JSON.parse(bytes.toString("utf8")));
  } catch {
    return undefined;
  }
}

function object(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A line without a copy, if it is in one chunk as usual. */
function joinChunks(partial: readonly Uint8Array[], piece: Uint8Array): Buffer {
  if (partial.length > 0) return Buffer.concat([...partial, piece]);
  return Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
}
