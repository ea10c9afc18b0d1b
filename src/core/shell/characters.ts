import { hasUnseen } from "../../words/hidden-text.ts";

const MAX_LENGTH = 100_000;

/** Text that would be displayed as something else than what runs, or that shells split in different ways. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;

/** Why a line cannot be trusted to be what it looks like, before any of it is read. */
export function badCharacters(line: string): string | undefined {
  if (line.length > MAX_LENGTH) return `It is longer than ${MAX_LENGTH} characters.`;
  if (line.includes("\r")) return "It has a carriage return, which shells take as part of a word.";
  if (CONTROL.test(line)) return "It has a control character.";
  if (!line.isWellFormed()) return "It is not valid Unicode.";
  if (hasUnseen(line)) return "It has a character that cannot be seen, or that changes the direction of text.";
  return undefined;
}

const PRINTABLE_ASCII = /^[\u0020-\u007E]*$/;

export function isPlainAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text);
}
