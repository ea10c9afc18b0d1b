import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  TextBlockParam,
  Tool,
} from "@anthropic-ai/sdk/resources/messages";

/** The Messages API as this engine speaks it. */
export type ApiBlock = ContentBlockParam;
export interface ApiMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ApiBlock[];
}
export type ApiText = TextBlockParam;
export type ApiTool = Tool;
export type ApiRequest = MessageCreateParamsStreaming;

/** What an answer consists of. Blocks that the log has no word for are kept as the API wrote them. */
export type AnswerBlock =
  | { readonly type: "text"; readonly id: string; text: string }
  | { readonly type: "thinking"; readonly id: string; thinking: string; signature: string }
  | {
      readonly type: "call";
      readonly callId: string;
      readonly name: string;
      /** Undefined when what the model wrote is not a JSON object. */
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

/** One whole answer of the model, or as much of it as came before an interrupt. */
export interface Answer {
  readonly messageId: string;
  /** As it was asked for. */
  readonly model: string;
  readonly blocks: readonly AnswerBlock[];
  /** Null when it was interrupted. */
  readonly stopReason: string | null;
  /** A call was cut off at the end of the answer, and is not among the blocks. */
  readonly isCallCut: boolean;
  readonly usage: AnswerUsage;
}
