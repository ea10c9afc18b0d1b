import type { MessageContent, ToolContent } from "../core/events/content.ts";

/** Converts content blocks for the Messages API. They are the same except for blocks whose payload was removed. */
export function apiContent(content: MessageContent | ToolContent): object[] {
  return content.map((block) => (block.type === "redacted" ? { type: "text", text: "[redacted]" } : block));
}

/** The API accepts only non-empty text as the result of a failed call. */
export function failedContent(content: ToolContent): object[] {
  if (content.length === 0) return [{ type: "text", text: "[no output]" }];
  return content.map((block) => (block.type === "text" ? block : { type: "text", text: `[${block.type}]` }));
}
