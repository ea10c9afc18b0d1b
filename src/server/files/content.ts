import { buffer } from "node:stream/consumers";
import type { MessageContent, ToolContent } from "../../core/events/content.ts";
import { IMAGE_TYPES, type MessageParams, PDF_TYPE, type ResultParams } from "../../protocol/v1/message-input.ts";
import { CapstanError } from "../../core/errors.ts";
import { invalid } from "../../protocol/v1/refusal.ts";
import type { ServerDeps, Caller } from "../http/context.ts";
import { findStoredFile } from "../http/lookup.ts";
import type { ApprovalAnswer } from "../../core/session/approval.ts";
import type { MessageInput } from "../../protocol/api/session-requests.ts";

type Deps = Pick<ServerDeps, "registry" | "contents" | "clock">;
type Block = MessageParams[number] | ResultParams[number];
type WithSource = Extract<Block, { type: "image" | "document" }>;

/** In bytes. Files become part of the log and of every later model request. */
const MAX_FILES = 20 * 1_048_576;

/** How many bytes of files the messages of one request may still contain. A file counts each time it is named. */
export class FileRoom {
  #left = MAX_FILES;

  /** Call this before reading a file. */
  take({ id, sizeBytes }: { readonly id: string; readonly sizeBytes: number }): void {
    if (sizeBytes > this.#left)
      throw new CapstanError(
        "too_large",
        `content: with the file ${id} (${sizeBytes} bytes), this request would contain more than ${MAX_FILES} bytes of files. Put large files into the workspace as resources instead.`,
      );
    this.#left -= sizeBytes;
  }
}

interface ContentContext {
  readonly project: string;
  readonly room: FileRoom;
}

/** Replaces file ids in a message with the files' content, because the model API does not know these ids. */
export async function readMessageContent(
  deps: Deps,
  place: ContentContext,
  given: MessageParams,
): Promise<MessageContent> {
  if (given.some(({ type }) => type === "redacted"))
    throw invalid("content: a redacted block has no content and cannot be sent. Omit it.");
  const content: MessageContent = [];
  for (const block of given) content.push(hasSource(block) ? await withContent(deps, place, block) : block);
  return content;
}

export async function readToolContent(deps: Deps, place: ContentContext, given: ResultParams): Promise<ToolContent> {
  const content: ToolContent = [];
  for (const block of given) content.push(hasSource(block) ? await withContent(deps, place, block) : block);
  return content;
}

function hasSource(block: Block): block is WithSource {
  return block.type === "image" || block.type === "document";
}

async function withContent<Kind extends WithSource>(
  deps: Deps,
  { project, room }: ContentContext,
  block: Kind,
): Promise<Kind> {
  const { type, source } = block;
  if (source.type !== "file") return block;
  const { id, mimeType, sizeBytes } = await findStoredFile(deps, project, source.file_id);
  const known = type === "image" ? IMAGE_TYPES : [PDF_TYPE];
  const isText = type === "document" && /^text\/|[/+]json$/.test(mimeType);
  if (!known.includes(mimeType) && !isText)
    throw invalid(
      `content: the file ${id} is ${mimeType}, which models cannot read as ${type}. Supported types: ${known.join(", ")}${type === "document" ? " and text" : ""}.`,
    );
  room.take({ id, sizeBytes });
  const bytes = await buffer(await deps.contents.read(id));
  return {
    ...block,
    source: isText
      ? { type: "text", data: bytes.toString("utf8"), media_type: "text/plain" }
      : { type: "base64", data: bytes.toString("base64"), media_type: mimeType },
  };
}

/** Adds the content of the project's files that the message names. */
export async function saidContent(
  deps: Deps,
  { project }: Caller,
  given: MessageInput,
): Promise<string | MessageContent> {
  return typeof given === "string" ? given : readMessageContent(deps, { project, room: new FileRoom() }, given);
}

/** The same for the result of a custom tool. */
export async function withFiles(deps: Deps, { project }: Caller, answer: ApprovalAnswer): Promise<ApprovalAnswer> {
  if (answer.result === undefined) return answer;
  const { content, isError } = answer.result;
  return {
    ...answer,
    result: { content: await readToolContent(deps, { project, room: new FileRoom() }, content), isError },
  };
}
