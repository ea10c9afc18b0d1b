import type { MessageContent } from "../../../core/events/content.ts";
import type { HistoryItem, ModelBlock, ToolReturn } from "../../../core/session/history.ts";
import { hasMarker } from "../../../core/redaction/redaction-marker.ts";
import { apiContent, failedContent } from "../../api-content.ts";
import type { Answer, AnswerBlock, ApiBlock, ApiMessage } from "../model/wire.ts";

/**
 * What the model sees of one thread. The log is the truth: a conversation is rebuilt from it when a session opens, and
 * grows in memory with it. Only notes belong to the engine and are not in the log.
 */
export type Item =
  | { readonly kind: "summary"; readonly text: string; readonly kept: readonly Item[] }
  | { readonly kind: "user"; readonly eventId: string; readonly content: MessageContent }
  | { readonly kind: "note"; readonly text: string }
  | ModelItem;

export interface ModelItem {
  readonly kind: "model";
  readonly messageId: string;
  readonly content: readonly ApiBlock[];
  readonly results: ToolReturn[];
}

export function conversationItem(item: HistoryItem): Item {
  if (item.kind === "summary") return { ...item, kept: item.kept.map(conversationItem) };
  if (item.kind === "user") return item;
  const { messageId, blocks, results } = item;
  return { kind: "model", messageId, content: blocks.flatMap(blockOf), results: [...results] };
}

function blockOf(block: ModelBlock): ApiBlock[] {
  if (block.kind === "text") return block.text.trim() === "" ? [] : [{ type: "text", text: block.text }];
  if (block.kind === "call")
    return [{ type: "tool_use", id: block.callId, name: block.name, input: { ...block.input } }];
  return thinkingBlock(block.thinking, block.signature);
}

/** Redacted thinking no longer matches its signature, and the API refuses thinking without one. */
function thinkingBlock(thinking: string, signature: string): ApiBlock[] {
  return signature === "" || hasMarker(thinking) ? [] : [{ type: "thinking", thinking, signature }];
}

export function itemOfAnswer({ messageId, blocks }: Pick<Answer, "messageId" | "blocks">): ModelItem {
  return { kind: "model", messageId, content: blocks.flatMap(answerBlock), results: [] };
}

function answerBlock(block: AnswerBlock): ApiBlock[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }];
    case "thinking":
      return thinkingBlock(block.thinking, block.signature);
    case "call":
      return [{ type: "tool_use", id: block.callId, name: block.name, input: block.input ?? {} }];
    case "other":
      return [block.block];
  }
}

/** The model's answers, including those that a compaction kept. */
export function modelAnswers(items: readonly Item[]): ModelItem[] {
  return items
    .flatMap((item) => (item.kind === "summary" ? item.kept : [item]))
    .filter((item) => item.kind === "model");
}

export function callsOf({ content }: ModelItem): Extract<ApiBlock, { type: "tool_use" }>[] {
  return content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
}

/** The API refuses an answer that contains only thinking, left by a broken stream. */
function isSaid({ content }: ModelItem): boolean {
  return content.some(({ type }) => type !== "thinking" && type !== "redacted_thinking");
}

const NO_RESULT = "[Interrupted: the call has no result, and its outcome is unknown. Check before doing it again.]";
/** Sent when there is nothing new for the model to answer. */
const GO_ON = "Continue from where you left off.";

/** Messages in the form the API requires: user and model alternate, and every call has a result. */
export function messagesOf(
  items: readonly Item[],
  { isPaused = false }: { readonly isPaused?: boolean } = {},
): ApiMessage[] {
  const messages: { role: "user" | "assistant"; content: ApiBlock[] }[] = [];
  const add = (role: "user" | "assistant", content: readonly ApiBlock[]): void => {
    const last = messages.at(-1);
    if (content.length === 0) return;
    if (last?.role === role) last.content.push(...content);
    else messages.push({ role, content: [...content] });
  };
  const addItem = (item: Item): void => {
    switch (item.kind) {
      case "summary":
        add("user", [{ type: "text", text: item.text }]);
        for (const kept of item.kept) addItem(kept);
        break;
      case "user":
        add("user", userBlocks(item.content));
        break;
      case "note":
        add("user", [{ type: "text", text: item.text }]);
        break;
      case "model":
        if (!isSaid(item)) break;
        add("assistant", item.content);
        add(
          "user",
          callsOf(item).map(({ id }) => resultBlock(id, item.results)),
        );
        break;
    }
  };
  for (const item of items) addItem(item);
  if (messages.at(-1)?.role !== "user" && !isPaused) add("user", [{ type: "text", text: GO_ON }]);
  return messages;
}

function userBlocks(content: MessageContent): ApiBlock[] {
  const blocks = apiContent(content) as ApiBlock[];
  return blocks.filter((block) => block.type !== "text" || block.text.trim() !== "");
}

function resultBlock(callId: string, results: readonly ToolReturn[]): ApiBlock {
  const { content, isError } = results.find((result) => result.callId === callId) ?? {
    content: [{ type: "text" as const, text: NO_RESULT }],
    isError: true,
  };
  const blocks = isError ? failedContent(content) : apiContent(content);
  return {
    type: "tool_result",
    tool_use_id: callId,
    content: blocks as Extract<ApiBlock, { type: "tool_result" }>["content"] & object,
    ...(isError && { is_error: true }),
  };
}
