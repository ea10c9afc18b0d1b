import type { MessageInput } from "../../../../src/client/index.ts";

/** A file that goes with a message. Images and PDFs go as they are; everything else must be text. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly block: Block;
}

type Block = Exclude<Extract<MessageInput, readonly unknown[]>[number], { type: "redacted" }>;

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** In bytes. Beyond it no model takes an image, and a text is better put into the workspace. */
const MAX_BYTES = 5 * 1_048_576;
let next = 1;

/** Rejects with a sentence for people when the file cannot go with a message. */
export async function attachmentOf(file: File): Promise<Attachment> {
  if (file.size > MAX_BYTES)
    throw new Error(`${file.name} is larger than 5 MiB. Put it into the workspace, and name its path in the message.`);
  return { id: `file-${next++}`, name: file.name, size: file.size, block: await blockOf(file) };
}

async function blockOf(file: File): Promise<Block> {
  if (IMAGES.has(file.type))
    return { type: "image", source: { type: "base64", media_type: file.type, data: await base64(file) } };
  if (file.type === "application/pdf")
    return {
      type: "document",
      title: file.name,
      source: { type: "base64", media_type: "application/pdf", data: await base64(file) },
    };
  const data = await file.text();
  if (data === "" || data.includes("\u0000") || data.includes("\uFFFD"))
    throw new Error(
      `${file.name} is no image, no PDF and no text, so the model cannot read it. Put it into the workspace instead.`,
    );
  return { type: "document", title: file.name, source: { type: "text", media_type: "text/plain", data } };
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const address = typeof reader.result === "string" ? reader.result : "";
      resolve(address.slice(address.indexOf(",") + 1));
    });
    reader.addEventListener("error", () => reject(reader.error ?? new Error(`${file.name} cannot be read.`)));
    reader.readAsDataURL(file);
  });
}

/** What is sent: plain text, or blocks when something goes with it. */
export function messageOf(text: string, attachments: readonly Attachment[]): MessageInput {
  if (attachments.length === 0) return text;
  return [...attachments.map(({ block }) => block), ...(text.trim() === "" ? [] : [{ type: "text" as const, text }])];
}
