import { escapeUnseen } from "../../words/hidden-text.ts";

/**
 * Makes any text safe for documents: control characters, which XML forbids and terminals obey, become their Unicode
 * pictures; invisible and direction-changing characters are written out; unpaired surrogates and noncharacters become
 * the replacement character.
 */
export function printable(text: string): string {
  const drawn = text
    .toWellFormed()
    .replaceAll(CONTROL, (character) => String.fromCodePoint(PICTURES + character.charCodeAt(0)))
    .replaceAll(NO_CHARACTER, "\uFFFD");
  return escapeUnseen(drawn);
}

/** All except tab, line feed and carriage return. */
// oxlint-disable-next-line no-control-regex -- The pattern searches for control characters.
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F]/g;
const NO_CHARACTER = /[\uFFFE\uFFFF]/g;
/** The first of Unicode's pictures of control characters. */
const PICTURES = 0x2400;

/** The same for HTML and XML, in texts and between double quotes. */
export function escapeMarkup(text: string): string {
  return printable(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
