import { bytesOf, type OpenFile, ToolFailure } from "./open-file.ts";
import { sizeText } from "./media.ts";

export const DEFAULT_LINES = 2_000;
/** For a file that is read as a whole. */
const MAX_WHOLE_BYTES = 256 * 1024;
/** Files up to this size can be changed; larger ones can only be read in parts. */
export const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** Limit for one result. A token is about four characters. */
const MAX_TOKENS = 25_000;
const CHARACTERS_PER_TOKEN = 4;
const CHUNK_BYTES = 1024 * 1024;
const NEW_LINE = 0x0a;

const HOW_TO_GO_ON =
  "Use offset and limit parameters to read specific portions of the file, or search for specific content instead of reading the whole file. To read it anyway, up to what still fits in your context, call Read again with allow_large: true — only if you genuinely need all of it or the user asked for the whole file.";

export interface Range {
  /** The first line's number; lines are counted from 1. */
  readonly first: number;
  readonly count: number;
}

export interface LineExcerpt {
  readonly lines: readonly string[];
  readonly total: number;
}

export function requireReadable(size: number): void {
  if (size > MAX_WHOLE_BYTES)
    throw new ToolFailure(
      `File content (${sizeText(size)}) exceeds maximum allowed size (${sizeText(MAX_WHOLE_BYTES)}). ${HOW_TO_GO_ON}`,
    );
}

export function requireFitting(text: string): void {
  const tokens = Math.ceil(text.length / CHARACTERS_PER_TOKEN);
  if (tokens > MAX_TOKENS)
    throw new ToolFailure(
      `File content (${tokens} tokens) exceeds maximum allowed tokens (${MAX_TOKENS}). ${HOW_TO_GO_ON}`,
    );
}

export function linesIn(text: string, { first, count }: Range): LineExcerpt {
  const all = text.split("\n");
  return { lines: all.slice(first - 1, first - 1 + count), total: all.length };
}

/** The same for a file that is too large for memory. */
export async function scanLines(file: OpenFile, { first, count }: Range, signal: AbortSignal): Promise<LineExcerpt> {
  const kept: Buffer[] = [];
  let bytes = 0;
  let line = 1;
  for (let position = 0; position < file.stats.size; position += CHUNK_BYTES) {
    signal.throwIfAborted();
    const chunk = await bytesOf(file, { position, most: CHUNK_BYTES });
    if (chunk.length === 0) break;
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(NEW_LINE, start);
      const next = end < 0 ? chunk.length : end + 1;
      if (line >= first && line < first + count) {
        kept.push(chunk.subarray(start, next));
        bytes += next - start;
        if (bytes > MAX_TEXT_BYTES) requireReadable(bytes);
      }
      if (end >= 0) line += 1;
      start = next;
    }
  }
  const text = Buffer.concat(kept).toString("utf8").replaceAll("\r\n", "\n");
  const isWhole = text.endsWith("\n") && line >= first + count;
  return { lines: text === "" ? [] : (isWhole ? text.slice(0, -1) : text).split("\n"), total: line };
}

/** As `cat -n` shows them, without padding. */
export function numberLines(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${first + index}\t${line}`).join("\n");
}
