import {
  documentBlock,
  imageBlock,
  isBase64,
  textBlock,
  type TextBlock,
  type ToolContent,
} from "../core/events/content.ts";
import { CapstanError } from "../core/errors.ts";
import { describeIssue } from "../core/agent/standard-schema.ts";

/** What a tool's handler returns: a text, content blocks in the API's format, or parts. */
export type ToolReply<Data = unknown> = string | readonly ReplyBlock[] | ReplyParts<Data>;

type ReplyBlock = Extract<ToolContent[number], { type: "text" | "image" | "document" }>;

/** At least one part; the model sees them in this order. */
interface ReplyParts<Data> {
  readonly text?: string;
  /** A JSON value; `render` converts it to text for the model. */
  readonly data?: Data;
  readonly resources?: readonly { readonly uri: string; readonly text: string }[];
  /** `data` is base64. */
  readonly images?: readonly { readonly data: string; readonly mediaType: string }[];
}

/** The content for the model. Throws if the reply has none of the shapes above. */
export function replyContent<Data>(reply: ToolReply<Data>, render: (data: Data) => string): ToolContent {
  return blocksOf(reply, render)
    .map(checkBlock)
    .filter((block) => block.type !== "text" || block.text !== "");
}

/** The text of the blocks as the model sees it, without images and other binary data. */
export function blocksText(content: ToolContent): string {
  return content.flatMap((block) => textIn(block) ?? []).join("\n");
}

/**
 * Truncates the text of the blocks to `maxBytes` of UTF-8 and says so in a last block; undefined if it fits. Binary
 * data stays, because half an image is useless.
 */
export function cutText(content: ToolContent, maxBytes: number): ToolContent | undefined {
  const total = Buffer.byteLength(content.map((block) => textIn(block) ?? "").join(""));
  if (total <= maxBytes) return undefined;
  const room = new Uint8Array(maxBytes);
  let used = 0;
  const kept = content.flatMap((block) => {
    const text = textIn(block);
    if (text === undefined) return [block];
    // `encodeInto` never splits a character.
    const { read, written } = new TextEncoder().encodeInto(text, room.subarray(used));
    used = read < text.length ? maxBytes : used + written;
    return read === 0 ? [] : [withText(block, text.slice(0, read))];
  });
  const note = `[Cut here: this result has ${total} bytes of text, and only the first ${maxBytes} are shown.]`;
  return [...kept, asText(note)];
}

const SHAPES = "Return a string, a list of content blocks, or an object with text, data, resources or images.";
const PARTS = ["text", "data", "resources", "images"];
const BLOCKS = { text: textBlock, image: imageBlock, document: documentBlock };

function blocksOf<Data>(reply: ToolReply<Data>, render: (data: Data) => string): readonly unknown[] {
  if (typeof reply === "string") return [asText(reply)];
  if (isList(reply)) return reply;
  if (typeof reply !== "object" || reply === null) throw wrong(`it is ${reply === null ? "null" : typeof reply}`);
  const unknown = Object.keys(reply).find((key) => !PARTS.includes(key));
  if (unknown !== undefined)
    throw wrong(`"${unknown}" is not one of ${PARTS.join(", ")}; wrap your own value as { data: … }`);
  const { text, data, resources = [], images = [] } = reply;
  if (!PARTS.some((part) => reply[part as keyof typeof reply] !== undefined)) throw wrong("the object has no parts");
  if (!isList(resources) || !isList(images)) throw wrong("resources and images must be lists");
  return [
    ...(text === undefined ? [] : [asText(text)]),
    ...(data === undefined ? [] : [asText(render(data))]),
    ...resources.map(({ uri, text }) => ({
      type: "document",
      source: { type: "text", data: text, media_type: "text/plain" },
      title: uri,
    })),
    ...images.map(({ data, mediaType }) => ({
      type: "image",
      source: { type: "base64", data, media_type: mediaType },
    })),
  ];
}

/** The default `render`. */
export function toJson(data: unknown): string {
  const json: unknown = JSON.stringify(data);
  if (typeof json !== "string") throw wrong(`data is a ${typeof data}, which JSON cannot represent`);
  return json;
}

function checkBlock(block: unknown, index: number): ReplyBlock {
  const type = typeof block === "object" && block !== null && "type" in block ? block.type : undefined;
  if (type !== "text" && type !== "image" && type !== "document")
    throw wrong(`block ${index} is not a block of type text, image or document`);
  const parsed = BLOCKS[type].safeParse(block);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => describeIssue(issue, type));
    throw wrong(`block ${index} (${type}) is not valid: ${issues.join("; ")}`);
  }
  const checked = parsed.data;
  if (checked.type !== "text" && checked.source.type === "base64" && !isBase64(checked.source.data))
    throw wrong(`the data of block ${index} (${type}) is not base64`);
  const text = textIn(checked);
  // A lone surrogate makes the whole request to the model invalid, and every later one.
  return text === undefined ? checked : withText(checked, text.toWellFormed());
}

function wrong(problem: string): CapstanError {
  return new CapstanError("tool_failed", `${problem}. ${SHAPES}`);
}

function asText(text: string): TextBlock {
  return { type: "text", text };
}

function textIn(block: ToolContent[number]): string | undefined {
  if (block.type === "text") return block.text;
  return block.type === "document" && block.source.type === "text" ? block.source.data : undefined;
}

function withText<Block extends ToolContent[number]>(block: Block, text: string): Block {
  if (block.type === "text") return { ...block, text };
  return block.type === "document" ? { ...block, source: { ...block.source, data: text } } : block;
}

/** `Array.isArray` that keeps the type of a readonly list. */
function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
