import type { MessageContent, ToolContent } from "../core/events/content.ts";

/** Our content blocks are the Messages API's, but for blocks whose payload is gone. */
export function apiContent(content: MessageContent | ToolContent): object[] {
  return content.map((block) => (block.type === "redacted" ? { type: "text", text: "[redacted]" } : block));
}

/** The API takes only text as the result of a call that failed, and requires some. */
export function failedContent(content: ToolContent): object[] {
  if (content.length === 0) return [{ type: "text", text: "[no output]" }];
  return content.map((block) => (block.type === "text" ? block : { type: "text", text: `[${block.type}]` }));
}
