import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { buffer } from "node:stream/consumers";
import type { MessageContent } from "../../core/events/content.ts";
import { messageOf } from "../../core/errors.ts";
import { usage } from "../terminal/failure.ts";
import { type Kind, kindByContent, kindByName } from "./file-kinds.ts";

/** The message from the command line, standard input and attached files; undefined when nothing was said. */
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
  return usage(
    file === undefined
      ? 'There is nothing to do. Say it, as in: capstan run "list the files"'
      : `The prompt is missing. Say what to do with ${file}, as in: capstan run --file ${file} "summarise this"`,
  );
}

async function readInput(): Promise<string> {
  const text = textIn(await buffer(process.stdin));
  if (text === undefined) throw usage("Standard input is not text. Attach files with --file instead.");
  return text;
}

/** A file as a part of a message. */
export function attach(file: string): MessageContent[number] {
  const bytes = read(file);
  const kind = kindByName(extname(file));
  if (kind !== undefined) return attachAs(kind, { file, bytes });
  const text = textIn(bytes);
  if (text === undefined)
    throw usage(`${file} is not text, and not named as an image or a PDF. Convert or rename it first.`);
  return { type: "document", title: basename(file), source: { type: "text", media_type: "text/plain", data: text } };
}

function attachAs(
  kind: Kind,
  { file, bytes }: { readonly file: string; readonly bytes: Buffer },
): MessageContent[number] {
  const found = kindByContent(bytes);
  // The model API would refuse it only after the whole session was set up, and in its own words.
  if (found !== kind)
    throw usage(
      found === undefined
        ? `${file} cannot be attached: its content is not ${kind.name}. Convert it, or give it the right extension.`
        : `${file} cannot be attached: its content is ${found.name}, not ${kind.name}. Rename it to end in ${found.extensions[0]}.`,
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
    throw usage(`${file} cannot be attached: ${messageOf(thrown)}.`);
  }
}

/** Undefined for what is no text: bytes that are no UTF-8, or a NUL. */
function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
