import type { ModelRequestInfo } from "../core/gateway.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The tool results that the model has not answered yet: those after its last message. A request that is repeated
 * because it failed reads them again, and for nothing. Read leniently: what is not understood is no result.
 */
export function newToolResults(messages: unknown): ModelRequestInfo["toolResults"] {
  if (!Array.isArray(messages)) return [];
  const conversation = messages as readonly unknown[];
  const answered = conversation.findLastIndex((message) => object(message)?.["role"] === "assistant");
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
