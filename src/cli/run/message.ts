import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { buffer } from "node:stream/consumers";
import type { MessageContent } from "../../core/events/content.ts";
import { messageOf } from "../../core/errors.ts";
import { usageError } from "../terminal/failure.ts";
import { type Kind, kindByContent, kindByName } from "./file-kinds.ts";

/** Reads the message from the command line, standard input and attached files; undefined if there is no text. */
export async function readMessage(
  words: readonly string[],
  files: readonly string[],
): Promise<MessageContent | undefined> {
  const given = words.join(" ").trim();
  const piped = process.stdin.isTTY ? "" : await readInput();
  const prompt = [given, piped.trim()].filter((part) => part !== "").join("\n\n");
  if (prompt === "") return undefined;
  return [...files.map(attach), { type: "text", text: prompt }];
}

export function nothingToDo([file]: readonly string[]): Error {
  return usageError(
    file === undefined
      ? 'The prompt is missing. Example: capstan run "list the files"'
      : `The prompt is missing. Say what to do with ${file}. Example: capstan run --file ${file} "summarize this"`,
  );
}

async function readInput(): Promise<string> {
  const text = textIn(await buffer(process.stdin));
  if (text === undefined) throw usageError("Standard input is not text. Attach files with --file instead.");
  return text;
}

/** Reads a file as a part of a message. */
export function attach(file: string): MessageContent[number] {
  const bytes = read(file);
  const kind = kindByName(extname(file));
  if (kind !== undefined) return attachAs(kind, { file, bytes });
  const text = textIn(bytes);
  if (text === undefined)
    throw usageError(
      `Cannot attach ${file}: it is not text, and its extension is not that of an image or a PDF. Convert or rename it.`,
    );
  return { type: "document", title: basename(file), source: { type: "text", media_type: "text/plain", data: text } };
}

function attachAs(
  kind: Kind,
  { file, bytes }: { readonly file: string; readonly bytes: Buffer },
): MessageContent[number] {
  const found = kindByContent(bytes);
  // The model API would reject it later, with a less helpful message.
  if (found !== kind)
    throw usageError(
      found === undefined
        ? `Cannot attach ${file}: its content is not ${kind.name}. Convert it, or correct its extension.`
        : `Cannot attach ${file}: its content is ${found.name}, not ${kind.name}. Change its extension to ${found.extensions[0]}.`,
    );
  const source = { type: "base64" as const, media_type: kind.mediaType, data: bytes.toString("base64") };
  return kind.mediaType.startsWith("image/")
    ? { type: "image", source }
    : { type: "document", title: basename(file), source };
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (thrown) {
    throw usageError(`Cannot attach ${file}: ${messageOf(thrown)}.`);
  }
}

/** Undefined if the bytes are not valid UTF-8, or contain a NUL. */
function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
