import { z } from "zod";
import { isBase64 } from "../../core/events/content.ts";

/** Events in requests of the Managed Agents API. */

const MAX_EVENTS = 50;
/** The limit of all models for one message. */
const MAX_BLOCKS = 100;
const TOO_MANY_BLOCKS = `at most ${MAX_BLOCKS} blocks are allowed`;

const textBlock = z.strictObject({ type: z.literal("text"), text: z.string().min(1, "a text must not be empty") });
/** Invalid content would make every later model request of the session fail. */
const base64 = z.string().refine(isBase64, { error: "expected base64" });
const urlSource = z.strictObject({ type: z.literal("url"), url: z.url({ protocol: /^https?$/ }) });
const fileSource = z.strictObject({ type: z.literal("file"), file_id: z.string().min(1) });

export const IMAGE_TYPES: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export const PDF_TYPE = "application/pdf";
const mediaType = (...known: readonly string[]) =>
  z.string().refine((type) => known.includes(type), { error: `expected ${known.join(" or ")}` });

const imageBlock = z.strictObject({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("base64"), data: base64, media_type: mediaType(...IMAGE_TYPES) }),
    urlSource,
    fileSource,
  ]),
});
const documentBlock = z.strictObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("base64"), data: base64, media_type: mediaType(PDF_TYPE) }),
    z.strictObject({ type: z.literal("text"), data: z.string().min(1), media_type: z.literal("text/plain") }),
    urlSource,
    fileSource,
  ]),
  title: z.string().nullish(),
  context: z.string().nullish(),
});
const searchResultBlock = z.strictObject({
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlock),
  citations: z.strictObject({ enabled: z.boolean() }),
});

/** Part of the API's type for resent messages. The content is gone, so it is rejected. */
const redactedBlock = z.strictObject({ type: z.literal("redacted") });

export const messageParams = z
  .array(z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock, redactedBlock]))
  .min(1, "a message must not be empty")
  .max(MAX_BLOCKS, TOO_MANY_BLOCKS);
/** A tool may return empty text. */
const resultText = z.strictObject({ type: z.literal("text"), text: z.string() });
export const resultParams = z
  .array(z.discriminatedUnion("type", [resultText, imageBlock, documentBlock, searchResultBlock]))
  .max(MAX_BLOCKS, TOO_MANY_BLOCKS);
export type MessageParams = z.infer<typeof messageParams>;
export type ResultParams = z.infer<typeof resultParams>;

const userMessage = z.strictObject({ type: z.literal("user.message"), content: messageParams });
/** Rejected by type; the content is not checked. */
const defineOutcome = z.object({ type: z.literal("user.define_outcome") });

const eventParams = z.discriminatedUnion("type", [
  userMessage,
  z.strictObject({ type: z.literal("user.interrupt"), session_thread_id: z.string().nullish() }),
  z.strictObject({
    type: z.literal("user.tool_confirmation"),
    tool_use_id: z.string(),
    result: z.enum(["allow", "deny"]),
    deny_message: z.string().max(10_000).nullish(),
  }),
  z.strictObject({
    type: z.literal("user.custom_tool_result"),
    custom_tool_use_id: z.string(),
    content: resultParams.optional(),
    is_error: z.boolean().nullish(),
  }),
  defineOutcome,
  z.object({ type: z.literal("user.tool_result") }),
  z.object({ type: z.literal("system.message") }),
]);
export type EventParams = z.infer<typeof eventParams>;
export type EventParamsOf<T extends EventParams["type"]> = Extract<EventParams, { type: T }>;

export const eventsSend = z.strictObject({ events: z.array(eventParams).min(1).max(MAX_EVENTS) });
export const initialEvents = z.array(z.discriminatedUnion("type", [userMessage, defineOutcome])).max(MAX_EVENTS);
