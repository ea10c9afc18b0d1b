import { z } from "zod";
import type { Approval, ApprovalAnswer } from "../../core/session/approval.ts";
import { isBase64, type ToolContent, toolContent } from "../../core/events/content.ts";
import { CapstanError } from "../../core/errors.ts";
import { describeIssue } from "../../core/agent/standard-schema.ts";

/** In characters of text. The Claude engine would show the model a part of a longer one, and the log would not say so. */
const MAX_RESULT = 400_000;

/** In bytes of base64: of one image, and of all that a result has. The model API takes no more. */
const MAX_IMAGE = 5_000_000;
const MAX_BINARY = 20_000_000;
const MEDIA_TYPES = {
  image: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  document: ["application/pdf"],
};

const given = z.strictObject({ content: toolContent, isError: z.boolean() });

/**
 * What a client says of its tool: a result, which may tell of a failure, or why there is none. Throws `invalid_input`
 * for anything else: what the model API cannot take would make every later request of the session fail.
 */
export function resultOf({ request }: Approval, answer: ApprovalAnswer): Pick<ApprovalAnswer, "result"> {
  const { behavior, result, message } = answer;
  if (request.kind !== "custom_tool") {
    if (result !== undefined)
      throw invalid(`A result is for a custom tool, and ${request.tool} is none. Leave it out.`);
    return {};
  }
  if (behavior === "deny") {
    if (result !== undefined) throw invalid("A denial has no result. Allow with the result, also when it is an error.");
    if (message === undefined || message.trim() === "")
      throw invalid(`Say in the message why ${request.tool} gives no result: the agent is told it.`);
    return {};
  }
  if (result === undefined)
    throw invalid(`${request.tool} runs in a client: allow it with its result, or deny it with a message.`);
  const { data, error } = given.safeParse(result);
  if (data === undefined) throw invalid(error.issues.map((issue) => describeIssue(issue, "result")).join("; "));
  const content = data.content.map(sound).filter((block) => block.type !== "text" || block.text !== "");
  const binary = content.reduce((sum, block) => sum + binaryLength(block), 0);
  if (binary > MAX_BINARY)
    throw invalid(
      `The images and documents of the result have ${binary} bytes in base64, and ${MAX_BINARY} are possible.`,
    );
  const length = content.reduce((sum, block) => sum + textLength(block), 0);
  if (length > MAX_RESULT)
    throw invalid(
      `The result has ${length} characters of text, and ${MAX_RESULT} are possible. Give a part of it, or say where the rest is.`,
    );
  return { result: { content, isError: data.isError } };
}

function sound(block: ToolContent[number], index: number): ToolContent[number] {
  if (block.type === "text") return { ...block, text: block.text.toWellFormed() };
  if (block.type === "search_result")
    return { ...block, content: block.content.map((part) => ({ ...part, text: part.text.toWellFormed() })) };
  const { source } = block;
  if (source.type === "base64") requireReadable(block.type, index, source);
  return block.type === "document" && source.type === "text"
    ? { ...block, source: { ...source, data: source.data.toWellFormed() } }
    : block;
}

function requireReadable(
  type: "image" | "document",
  index: number,
  source: { data: string; media_type: string },
): void {
  const { data, media_type: mediaType } = source;
  const known = MEDIA_TYPES[type];
  if (!known.includes(mediaType))
    throw invalid(`content.${index}: ${mediaType} is no ${type} that the model can read. Give ${known.join(", ")}.`);
  if (!isBase64(data)) throw invalid(`content.${index}: the data of the ${type} is not base64.`);
  if (type === "image" && data.length > MAX_IMAGE)
    throw invalid(`content.${index}: the image has ${data.length} bytes in base64, and ${MAX_IMAGE} are possible.`);
}

function binaryLength(block: ToolContent[number]): number {
  return "source" in block && typeof block.source === "object" && block.source.type === "base64"
    ? block.source.data.length
    : 0;
}

function textLength(block: ToolContent[number]): number {
  if (block.type === "text") return block.text.length;
  if (block.type === "search_result") return block.content.reduce((sum, { text }) => sum + text.length, 0);
  return block.source.type === "text" ? block.source.data.length : 0;
}

function invalid(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}
