import type { ToolContent } from "../../../../core/events/content.ts";
import { ToolFailure } from "./open-file.ts";

/** Extensions that are shown as images. */
export const IMAGE_EXTENSIONS: readonly string[] = ["png", "jpg", "jpeg", "gif", "webp"];

/** The model API's limit, in bytes before base64 encoding. */
const MAX_IMAGE_BYTES = 3_750_000;
export const MAX_PDF_BYTES = 20 * 1024 * 1024;
/** Limit for one request. */
const MAX_PDF_PAGES = 100;

export function imageContent(bytes: Buffer, named: string): ToolContent {
  const media_type = imageType(bytes);
  if (media_type === undefined) {
    const hex = [...bytes.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    throw new ToolFailure(
      `File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP. Detected: unrecognized bytes (hex: ${hex}). This usually means a download saved an error/login page instead of the image. Use \`file "${named}"\` to confirm, or read it as text with Bash (e.g. \`head -c 500\`).`,
    );
  }
  if (bytes.length > MAX_IMAGE_BYTES)
    throw new ToolFailure(
      `The image has ${bytes.length} bytes, but the model accepts at most ${MAX_IMAGE_BYTES}. Create a smaller copy with a shell command, and read that.`,
    );
  return [{ type: "image", source: { type: "base64", data: bytes.toString("base64"), media_type } }];
}

/** By its first bytes, not its name. */
function imageType(bytes: Buffer): string | undefined {
  const starts = (text: string, at = 0): boolean => bytes.subarray(at, at + text.length).toString("latin1") === text;
  if (starts("\x89PNG\r\n\x1a\n")) return "image/png";
  if (starts("\xff\xd8\xff")) return "image/jpeg";
  if (starts("GIF87a") || starts("GIF89a")) return "image/gif";
  return starts("RIFF") && starts("WEBP", 8) ? "image/webp" : undefined;
}

export function pdfContent(bytes: Buffer, named: string): ToolContent {
  if (bytes.subarray(0, 5).toString("latin1") !== "%PDF-")
    throw new ToolFailure(`File is not a valid PDF (missing %PDF- header): ${named}`);
  const pages = bytes.toString("latin1").match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;
  if (pages > MAX_PDF_PAGES)
    throw new ToolFailure(
      `${named} has ${pages} pages, but the model accepts at most ${MAX_PDF_PAGES}. Split it with a shell command such as qpdf, and read the parts.`,
    );
  return [
    { type: "text", text: `PDF file read: ${named} (${sizeText(bytes.length)})` },
    {
      type: "document",
      source: { type: "base64", media_type: "application/pdf", data: bytes.toString("base64") },
    },
  ];
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const kilobytes = bytes / 1024;
  const [value, unit] =
    kilobytes < 1024
      ? [kilobytes, "KB"]
      : kilobytes < 1024 * 1024
        ? [kilobytes / 1024, "MB"]
        : [kilobytes / 1024 / 1024, "GB"];
  return `${value.toFixed(1).replace(/\.0$/, "")}${unit}`;
}
