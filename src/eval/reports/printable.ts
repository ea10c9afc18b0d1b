import { escapeUnseen } from "../../words/hidden-text.ts";

/**
 * Text of any origin as documents may have it: control characters, which XML forbids and terminals obey, become the
 * pictures of them; what hides itself or turns the direction of reading is written out; half a surrogate pair and what is
 * no character become the sign for that.
 */
export function printable(text: string): string {
  const drawn = text
    .toWellFormed()
    .replaceAll(CONTROL, (character) => String.fromCodePoint(PICTURES + character.charCodeAt(0)))
    .replaceAll(NO_CHARACTER, "\uFFFD");
  return escapeUnseen(drawn);
}

/** All but tab, line feed and carriage return. */
// oxlint-disable-next-line no-control-regex -- it is what this is about
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F]/g;
const NO_CHARACTER = /[\uFFFE\uFFFF]/g;
/** Where Unicode's pictures of control characters begin. */
const PICTURES = 0x2400;

/** The same for HTML and XML, in texts and between double quotes. */
export function escaped(text: string): string {
  return printable(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
