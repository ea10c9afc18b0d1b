import type { Answer, AnswerBlock, AnswerUsage, ApiBlock } from "./wire.ts";

/** One stream event; parsed leniently, because providers differ. */
export interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

interface OpenBlock {
  readonly type: string;
  readonly id: string;
  readonly start: Fields;
  text: string;
  signature: string;
  isDone: boolean;
}

/** An answer while it is being streamed. */
export class AnswerDraft {
  readonly #model: string;
  readonly #newId: () => string;
  readonly #blocks = new Map<number, OpenBlock>();
  #messageId = "";
  #stopReason: string | null = null;
  #usage: Fields = {};
  #isStopped = false;

  /** `newId` returns ids for the events that blocks become. */
  constructor(model: string, newId: () => string) {
    this.#model = model;
    this.#newId = newId;
  }

  get isBegun(): boolean {
    return this.#messageId !== "";
  }

  /** Some providers omit the last event. */
  get isComplete(): boolean {
    if (!this.isBegun) return false;
    return this.#isStopped || (this.#stopReason !== null && [...this.#blocks.values()].every(({ isDone }) => isDone));
  }

  /** The block at an index of the answer, as previews identify it. */
  at(index: unknown): Pick<OpenBlock, "type" | "id"> | undefined {
    return typeof index === "number" ? this.#blocks.get(index) : undefined;
  }

  take(event: StreamEvent): void {
    switch (event.type) {
      case "message_start": {
        const { id, usage } = fields(event["message"]);
        this.#messageId = text(id) || this.#newId();
        this.#note(usage);
        break;
      }
      case "content_block_start": {
        const start = fields(event["content_block"]);
        const block = { type: text(start["type"]), id: this.#newId(), start, signature: text(start["signature"]) };
        const begun = text(start["text"]) || text(start["thinking"]);
        this.#blocks.set(Number(event["index"]), { ...block, text: begun, isDone: false });
        break;
      }
      case "content_block_delta": {
        const block = this.#blocks.get(Number(event["index"]));
        const delta = fields(event["delta"]);
        if (block === undefined) break;
        block.text += text(delta["text"]) + text(delta["thinking"]) + text(delta["partial_json"]);
        block.signature += text(delta["signature"]);
        break;
      }
      case "content_block_stop": {
        const block = this.#blocks.get(Number(event["index"]));
        if (block !== undefined) block.isDone = true;
        break;
      }
      case "message_delta": {
        const reason = fields(event["delta"])["stop_reason"];
        if (typeof reason === "string") this.#stopReason = reason;
        this.#note(event["usage"]);
        break;
      }
      case "message_stop":
        this.#isStopped = true;
        break;
      default:
        break;
    }
  }

  /** The whole answer; if it was interrupted, the parts that can be sent back to the model. */
  finish({ isInterrupted }: { readonly isInterrupted: boolean }): Answer {
    const blocks = [...this.#blocks.entries()].toSorted(([a], [b]) => a - b).map(([, block]) => block);
    const stopReason = isInterrupted ? null : (this.#stopReason ?? "end_turn");
    const last = blocks.at(-1);
    const isCallCut =
      last?.type === "tool_use" &&
      (!last.isDone || (stopReason === "max_tokens" && inputOf(last) === undefined && last.text !== ""));
    const whole = isCallCut ? blocks.slice(0, -1) : blocks;
    return {
      messageId: this.#messageId,
      model: this.#model,
      blocks: whole.flatMap((block) => finishBlock(block, isInterrupted)),
      stopReason,
      isCallCut,
      usage: usageOf(this.#usage),
    };
  }

  #note(usage: unknown): void {
    const said = Object.entries(fields(usage)).filter(([, value]) => value !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(said) };
  }
}

function finishBlock(block: OpenBlock, isInterrupted: boolean): AnswerBlock[] {
  const { type, id, start } = block;
  switch (type) {
    case "text":
      // The API refuses blank text.
      return block.text.trim() === "" ? [] : [{ type, id, text: block.text }];
    case "thinking":
      // Incomplete thinking has no signature, so the API would refuse it.
      return block.isDone ? [{ type, id, thinking: block.text, signature: block.signature }] : [];
    case "tool_use":
      // An interrupted call was never made.
      return isInterrupted
        ? []
        : [
            {
              type: "call",
              callId: text(start["id"]),
              name: text(start["name"]),
              input: inputOf(block),
              written: block.text,
            },
          ];
    default:
      return block.isDone ? [{ type: "other", block: asSent(block) }] : [];
  }
}

/** A block of a tool that the API runs itself; its input is streamed like any other call's. */
function asSent({ start, text: written }: OpenBlock): ApiBlock {
  const input = written === "" ? {} : { input: parseJson(written) ?? {} };
  return { ...start, ...input } as unknown as ApiBlock;
}

function inputOf({ start, text: written }: OpenBlock): Record<string, unknown> | undefined {
  const input: unknown = written === "" ? (start["input"] ?? {}) : parseJson(written);
  return typeof input === "object" && input !== null && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : undefined;
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function usageOf(usage: Fields): AnswerUsage {
  const hour = count(fields(usage["cache_creation"])["ephemeral_1h_input_tokens"]);
  const searches = count(fields(usage["server_tool_use"])["web_search_requests"]);
  return {
    input_tokens: count(usage["input_tokens"]),
    output_tokens: count(usage["output_tokens"]),
    cache_read_input_tokens: count(usage["cache_read_input_tokens"]),
    cache_creation_input_tokens: count(usage["cache_creation_input_tokens"]),
    ...(hour > 0 && { cache_creation_1h_input_tokens: hour }),
    ...(searches > 0 && { web_search_requests: searches }),
  };
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
