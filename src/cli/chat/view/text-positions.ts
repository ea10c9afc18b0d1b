import { graphemes } from "../../terminal/text.ts";

/** Cursor positions in a text, as offsets. A cursor is never inside a user-perceived character. */

export function previousBorder(text: string, at: number): number {
  // Long enough for any character, without segmenting a long text.
  const from = Math.max(0, at - 64);
  const last = [...graphemes(text.slice(from, at))].at(-1) ?? "";
  return at - last.length;
}

export function nextBorder(text: string, at: number): number {
  const [first = ""] = graphemes(text.slice(at, at + 64));
  return at + first.length;
}

export function lineStart(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

export function wordStart(text: string, at: number): number {
  return at - (/\S*\s*$/.exec(text.slice(0, at))?.[0].length ?? 0);
}

export function wordEnd(text: string, at: number): number {
  return at + (/^\s*\S*/.exec(text.slice(at))?.[0].length ?? 0);
}
