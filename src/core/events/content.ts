import { z } from "zod";

/** Content blocks in the format of the Managed Agents API, used by the log, the API and the console. */

export const textBlock = z.object({ type: z.literal("text"), text: z.string() });

const base64Source = z.object({ type: z.literal("base64"), data: z.string(), media_type: z.string() });
const urlSource = z.object({ type: z.literal("url"), url: z.string() });
const fileSource = z.object({ type: z.literal("file"), file_id: z.string() });
const plainTextSource = z.object({ type: z.literal("text"), data: z.string(), media_type: z.literal("text/plain") });

export const imageBlock = z.object({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [base64Source, urlSource, fileSource]),
});

export const documentBlock = z.object({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [base64Source, plainTextSource, urlSource, fileSource]),
  title: z.string().nullish(),
  context: z.string().nullish(),
});

const searchResultBlock = z.object({
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlock),
  citations: z.object({ enabled: z.boolean() }),
});

/** Replaces erased content or a removed secret. */
const redactedBlock = z.object({ type: z.literal("redacted") });

export const messageContent = z.array(
  z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock, redactedBlock]),
);
export const agentContent = z.array(z.discriminatedUnion("type", [textBlock, redactedBlock]));
export const toolContent = z.array(
  z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock, searchResultBlock]),
);

export type TextBlock = z.infer<typeof textBlock>;
export type MessageContent = z.infer<typeof messageContent>;
export type ToolContent = z.infer<typeof toolContent>;

/**
 * Searches for invalid characters: a pattern for the whole text would keep a backtracking point for every character of
 * an image, and overflow the stack.
 */
export function isBase64(data: string): boolean {
  const padding = /={0,2}$/.exec(data.slice(-2))?.[0].length ?? 0;
  const stranger = data.search(/[^A-Za-z0-9+/]/);
  return data.length > 0 && data.length % 4 === 0 && stranger === (padding === 0 ? -1 : data.length - padding);
}
