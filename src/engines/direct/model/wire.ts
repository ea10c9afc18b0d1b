import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  TextBlockParam,
  Tool,
} from "@anthropic-ai/sdk/resources/messages";

/** The subset of the Messages API that this engine uses. */
export type ApiBlock = ContentBlockParam;
export interface ApiMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ApiBlock[];
}
export type ApiText = TextBlockParam;
export type ApiTool = Tool;
export type ApiRequest = MessageCreateParamsStreaming;

/** The blocks of an answer. Blocks that the log can't represent are kept as the API sent them. */
export type AnswerBlock =
  | { readonly type: "text"; readonly id: string; text: string }
  | { readonly type: "thinking"; readonly id: string; thinking: string; signature: string }
  | {
      readonly type: "call";
      readonly callId: string;
      readonly name: string;
      /** Undefined if the model's text is not a JSON object. */
      readonly input: Record<string, unknown> | undefined;
      readonly written: string;
    }
  | { readonly type: "other"; readonly block: ApiBlock };

export interface AnswerUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_creation_1h_input_tokens?: number;
  readonly web_search_requests?: number;
}

/** One whole answer of the model, or the part that arrived before an interrupt. */
export interface Answer {
  readonly messageId: string;
  /** The model's name as requested. */
  readonly model: string;
  readonly blocks: readonly AnswerBlock[];
  /** Null if the answer was interrupted. */
  readonly stopReason: string | null;
  /** The last call was cut off, and is not among the blocks. */
  readonly isCallCut: boolean;
  readonly usage: AnswerUsage;
}
