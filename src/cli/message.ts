import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { text as readAll } from "node:stream/consumers";
import type { MessageContent } from "../core/content.ts";
import { messageOf } from "../core/errors.ts";
import { usage } from "./failure.ts";

const IMAGES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

/** The message from the command line, standard input and attached files. */
export async function readMessage(words: readonly string[], files: readonly string[]): Promise<MessageContent> {
  const given = words.join(" ").trim();
  const piped = process.stdin.isTTY ? "" : await readInput();
  const prompt = [given, piped.trim()].filter((part) => part !== "").join("\n\n");
  if (prompt === "") throw usage('There is nothing to do. Say it, as in: capstan run "list the files"');
  return [...files.map(attach), { type: "text", text: prompt }];
}

async function readInput(): Promise<string> {
  const input = await readAll(process.stdin);
  if (isBinary(input)) throw usage("Standard input is not text. Attach files with --file instead.");
  return input;
}

function attach(file: string): MessageContent[number] {
  const bytes = read(file);
  const extension = extname(file).toLowerCase();
  const image = IMAGES[extension];
  const data = bytes.toString("base64");
  if (image !== undefined) return { type: "image", source: { type: "base64", media_type: image, data } };
  if (extension === ".pdf")
    return { type: "document", title: basename(file), source: { type: "base64", media_type: "application/pdf", data } };
  const text = bytes.toString("utf8");
  if (isBinary(text)) throw usage(`${file} is not text, an image or a PDF. Convert it first.`);
  return { type: "document", title: basename(file), source: { type: "text", media_type: "text/plain", data: text } };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (thrown) {
    throw usage(`${file} cannot be attached: ${messageOf(thrown)}.`);
  }
}

/** NUL, or bytes that are no UTF-8 and were replaced in reading. */
function isBinary(text: string): boolean {
  return text.includes("\0") || text.includes("\uFFFD");
}
