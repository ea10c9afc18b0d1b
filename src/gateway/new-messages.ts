import type { ModelRequestInfo } from "../core/ports/gateway.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The tool results that the model has not answered yet: those after its last message. A retry of a failed request
 * includes them again, for free. Parsed leniently: unknown content is ignored.
 */
export function newToolResults(messages: unknown): ModelRequestInfo["toolResults"] {
  const { conversation, answered } = read(messages);
  if (answered < 0) return [];
  const names = new Map(blocksOf(conversation[answered]).map((block) => [block["id"], block["name"]]));
  return conversation.slice(answered + 1).flatMap((message) =>
    blocksOf(message).flatMap((block) => {
      const callId = block["tool_use_id"];
      const engineName = names.get(callId);
      return block["type"] === "tool_result" && typeof callId === "string" && typeof engineName === "string"
        ? [{ callId, engineName }]
        : [];
    }),
  );
}

/**
 * What the model has not answered yet: all text after its last message. The engine sends a user's message in the middle
 * of a turn as a user message, as a system message or next to a result.
 */
export function newlySaid(messages: unknown): string {
  const { conversation, answered } = read(messages);
  return conversation
    .slice(answered + 1)
    .flatMap(textsOf)
    .join("\n");
}

function textsOf(message: unknown): readonly string[] {
  const content = object(message)?.["content"];
  if (typeof content === "string") return [content];
  return blocksOf(message).flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : textsOf(block)));
}

function read(messages: unknown): { readonly conversation: readonly unknown[]; readonly answered: number } {
  const conversation: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const answered = conversation.findLastIndex((message) => object(message)?.["role"] === "assistant");
  return { conversation, answered };
}

function blocksOf(message: unknown): readonly JsonObject[] {
  const content = object(message)?.["content"];
  if (!Array.isArray(content)) return [];
  return (content as readonly unknown[]).flatMap((block): readonly JsonObject[] => {
    const known = object(block);
    return known === undefined ? [] : [known];
  });
}

function object(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}
