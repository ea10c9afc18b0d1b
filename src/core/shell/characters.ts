import { hasUnseen } from "../../words/hidden-text.ts";

const MAX_LENGTH = 100_000;

/** Text that is displayed differently than it runs, or that shells split in different ways. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;

/** Why a line may not be what it looks like; checked before parsing. */
export function badCharacters(line: string): string | undefined {
  if (line.length > MAX_LENGTH) return `It is longer than ${MAX_LENGTH} characters.`;
  if (line.includes("\r")) return "It contains a carriage return, which shells treat as part of a word.";
  if (CONTROL.test(line)) return "It contains a control character.";
  if (!line.isWellFormed()) return "It is not valid Unicode.";
  if (hasUnseen(line)) return "It contains an invisible character, or one that changes the direction of text.";
  return undefined;
}

const PRINTABLE_ASCII = /^[\u0020-\u007E]*$/;

export function isPlainAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text);
}
