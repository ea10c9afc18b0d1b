const MAX_LENGTH = 100_000;

/** Text that would be displayed as something else than what runs, or that shells split in different ways. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/;
const HIDDEN =
  /[\u{AD}\u{61C}\u{115F}\u{1160}\u{180E}\u{200B}\u{200C}\u{200E}\u{200F}\u{2028}-\u{202E}\u{2060}-\u{206F}\u{3164}\u{FEFF}\u{FFA0}\u{FFF0}-\u{FFFB}\u{E0000}-\u{E007F}]|\u{34F}|\u{17B4}|\u{17B5}/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Why a line cannot be trusted to be what it looks like, before any of it is read. */
export function badCharacters(line: string): string | undefined {
  if (line.length > MAX_LENGTH) return `It is longer than ${MAX_LENGTH} characters.`;
  if (line.includes("\r")) return "It has a carriage return, which shells take as part of a word.";
  if (CONTROL.test(line)) return "It has a control character.";
  if (HIDDEN.test(line)) return "It has a character that cannot be seen, or that changes the direction of text.";
  if (LONE_SURROGATE.test(line)) return "It is not valid Unicode.";
  return undefined;
}

const PRINTABLE_ASCII = /^[\u0020-\u007E]*$/;

export function isPlainAscii(text: string): boolean {
  return PRINTABLE_ASCII.test(text);
}
