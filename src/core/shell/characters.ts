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

const ODD_SPACE = /[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/;
/** Full-width and small forms of `;`, `|`, `&`, quotes and the like. */
const LOOK_ALIKE =
  /[\u037E\u01C0\u2018-\u201F\u2032-\u2037\u2044\u2215\u2223\u2758\uA789\uFE50-\uFE6F\uFF00-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40\uFF5B-\uFF65]/;

/** What looks like a separator, outside quotes, but is not one (or is one only in some locales). */
export function looksLikeSeparator(text: string): boolean {
  return ODD_SPACE.test(text) || LOOK_ALIKE.test(text);
}

const PRINTABLE_ASCII = /^[\u0020-\u007E]*$/;

export function isPlainAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text);
}

/** `!x` in text that is not in single quotes: an interactive shell puts an earlier command there. */
const HISTORY = /(?:^|[^\\$[{])!(?=[^\s=("'])/;

export function isHistoryExpansion(source: string): boolean {
  return HISTORY.test(source);
}
