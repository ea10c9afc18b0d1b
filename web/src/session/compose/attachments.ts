import type { MessageInput } from "../../../../src/client/index.ts";

/** A file attached to a message. Images and PDFs are sent as they are; everything else must be text. */
export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly size: number;
  readonly block: Block;
}

type Block = Exclude<Extract<MessageInput, readonly unknown[]>[number], { type: "redacted" }>;

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** In bytes. Models accept no larger images, and longer texts belong in the workspace. */
const MAX_BYTES = 5 * 1_048_576;
let next = 1;

/** Throws a message for people if the file cannot be attached. */
export async function attachmentOf(file: File): Promise<Attachment> {
  if (file.size > MAX_BYTES)
    throw new Error(`${file.name} is larger than 5 MB. Put it into the workspace and mention its path in the message.`);
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
      `${file.name} is not an image, PDF or text file, so the model cannot read it. Put it into the workspace instead.`,
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
    reader.addEventListener("error", () => reject(reader.error ?? new Error(`Could not read ${file.name}.`)));
    reader.readAsDataURL(file);
  });
}

/** The content to send: plain text, or blocks if there are attachments. */
export function messageOf(text: string, attachments: readonly Attachment[]): MessageInput {
  if (attachments.length === 0) return text;
  return [...attachments.map(({ block }) => block), ...(text.trim() === "" ? [] : [{ type: "text" as const, text }])];
}
