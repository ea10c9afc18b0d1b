import { createParser } from "eventsource-parser";
import { recordedMessage, type RecordedMessage } from "../../core/suite/cassette.ts";

type Json = Record<string, unknown>;

/** Reassembles a streamed answer. Feed it all bytes; `message` is available once the answer has started. */
export class MessageReader {
  readonly #decoder = new TextDecoder();
  readonly #parser = createParser({ onEvent: ({ data }) => this.#take(eventIn(data)) });
  #message: Json | undefined;
  readonly #blocks: Json[] = [];
  /** The text of a tool's input, which arrives in pieces. */
  readonly #inputs = new Map<number, string>();
  readonly #closed = new Set<number>();
  #isWhole = false;
  #error: unknown;

  /** The provider's error, if it sent one instead of continuing. */
  get error(): unknown {
    return this.#error;
  }

  push(bytes: Uint8Array): void {
    this.#parser.feed(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The message so far, and whether it is complete; undefined if it has not started. */
  read(): { readonly message: RecordedMessage; readonly isWhole: boolean } | undefined {
    if (this.#message === undefined) return undefined;
    // A call with an incomplete input does not count.
    const content = this.#blocks.filter((block, index) => block["type"] !== "tool_use" || this.#closed.has(index));
    const parsed = recordedMessage.safeParse({ ...this.#message, content });
    return parsed.success ? { message: parsed.data, isWhole: this.#isWhole } : undefined;
  }

  #take(event: Json): void {
    const index = Number(event["index"]);
    switch (event["type"]) {
      case "message_start":
        this.#message = { ...(event["message"] as Json) };
        break;
      case "content_block_start":
        this.#blocks[index] = { ...(event["content_block"] as Json) };
        break;
      case "content_block_delta":
        this.#add(index, event["delta"] as Json);
        break;
      case "content_block_stop":
        this.#close(index);
        break;
      case "message_delta":
        this.#message = {
          ...this.#message,
          ...(event["delta"] as Json),
          usage: { ...(this.#message?.["usage"] as Json), ...(event["usage"] as Json) },
        };
        break;
      case "message_stop":
        this.#isWhole = true;
        break;
      case "error":
        this.#error = event;
        break;
      default:
    }
  }

  #add(index: number, delta: Json): void {
    const block = this.#blocks[index];
    if (block === undefined) return;
    const append = (key: string, more: unknown): void => void (block[key] = textOf(block[key]) + textOf(more));
    switch (delta["type"]) {
      case "text_delta":
        append("text", delta["text"]);
        break;
      case "thinking_delta":
        append("thinking", delta["thinking"]);
        break;
      case "signature_delta":
        append("signature", delta["signature"]);
        break;
      case "input_json_delta":
        this.#inputs.set(index, (this.#inputs.get(index) ?? "") + textOf(delta["partial_json"]));
        break;
      case "citations_delta":
        block["citations"] = [...((block["citations"] as unknown[] | null) ?? []), delta["citation"]];
        break;
      default:
    }
  }

  #close(index: number): void {
    this.#closed.add(index);
    const input = this.#inputs.get(index);
    const block = this.#blocks[index];
    if (block !== undefined && input !== undefined && input.trim() !== "") block["input"] = JSON.parse(input);
  }
}

/** Text that is not an event is passed on, but ignored here. */
function eventIn(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

interface StreamOptions {
  /** Omits its end. */
  readonly cut: boolean;
  /** Maximum characters per frame (default: each block at once). */
  readonly piece?: number;
}

/** A message as a stream. */
export function streamOf(message: RecordedMessage, options: StreamOptions): string {
  return messageFrames(message, options).join("");
}

export function messageFrames(message: RecordedMessage, { cut, piece = Infinity }: StreamOptions): readonly string[] {
  const { content, usage, stop_reason: stopReason, stop_sequence: stopSequence = null, ...start } = message;
  const frames: Json[] = [
    { type: "message_start", message: { ...start, content: [], stop_reason: null, stop_sequence: null, usage } },
    ...content.flatMap((block, index) => blockFrames(block, index, piece)),
  ];
  // The block that was cut off is not closed.
  if (cut && frames.length > 1) frames.pop();
  if (!cut)
    frames.push(
      { type: "message_delta", delta: { stop_reason: stopReason, stop_sequence: stopSequence }, usage },
      { type: "message_stop" },
    );
  return frames.map((frame) => frameOf(String(frame["type"]), frame));
}

/** The end of a stream that cannot continue. */
export function errorFrame(error: unknown): string {
  return frameOf("error", error);
}

function frameOf(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function blockFrames(block: Json, index: number, piece: number): Json[] {
  const { start, deltas } = inPieces(block, (text) => split(textOf(text), piece));
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** Keeps surrogate pairs together. An empty text is one piece. */
function split(text: string, piece: number): readonly string[] {
  if (text.length <= piece) return [text];
  return text.match(new RegExp(`.{1,${piece}}`, "gsu")) ?? [];
}

function inPieces(
  block: Json,
  cutUp: (text: unknown) => readonly string[],
): { readonly start: Json; readonly deltas: readonly Json[] } {
  switch (block["type"]) {
    case "text": {
      const citations = (block["citations"] as unknown[] | null | undefined) ?? [];
      return {
        start: { ...block, text: "", ...(citations.length > 0 && { citations: [] }) },
        deltas: [
          ...citations.map((citation) => ({ type: "citations_delta", citation })),
          ...cutUp(block["text"]).map((text) => ({ type: "text_delta", text })),
        ],
      };
    }
    case "thinking":
      return {
        start: { ...block, thinking: "", signature: "" },
        deltas: [
          ...cutUp(block["thinking"]).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block["signature"] ?? "" },
        ],
      };
    case "tool_use":
    case "server_tool_use":
      return {
        start: { ...block, input: {} },
        deltas: cutUp(JSON.stringify(block["input"])).map((text) => ({ type: "input_json_delta", partial_json: text })),
      };
    default:
      return { start: block, deltas: [] };
  }
}
