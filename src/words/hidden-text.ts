/**
 * Characters that people do not see: they steer a terminal, take no room, or turn the direction of reading, so that a
 * text is read as something it is not. The one list of them, for terminals, reports, the console and the rules for
 * commands.
 */

/** All but tab and line feed. */
const C0 = String.raw`\u0000-\u0008\u000B-\u001F`;
const UNSEEN = [
  String.raw`\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E`,
  String.raw`\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}\p{Cs}`,
].join("");

/** Scripts that are written with joiners: Persian parts letters by one, Indian scripts choose a form. */
const JOINING = ["Arabic", "Syriac", "Mongolian", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil"]
  .concat(["Telugu", "Kannada", "Malayalam", "Sinhala"])
  .map((script) => String.raw`\p{Script=${script}}`)
  .join("");
const PICTURE = String.raw`\p{Extended_Pictographic}`;
/** Part of a character that people do see: one emoji made of several, its style, or a letter next to another. */
const SEEN = [
  String.raw`(?<=${PICTURE}\uFE0F?\p{Emoji_Modifier}?)\u200D(?=${PICTURE})`,
  String.raw`(?<=[${PICTURE}0-9#*])[\uFE0E\uFE0F]`,
  String.raw`(?<=[${JOINING}])[\u200C\u200D](?=[${JOINING}])`,
].join("|");

const HIDDEN = new RegExp(`(?!${SEEN})[${C0}${UNSEEN}]`, "gu");
const HIDDEN_BUT_C0 = new RegExp(`(?!${SEEN})[${UNSEEN}]`, "gu");
const HAS_HIDDEN = new RegExp(`(?!${SEEN})[${UNSEEN}]`, "u");
const CONTROL = new RegExp(String.raw`[${C0}\u007F-\u009F]`, "g");
/** Most text has none, and looking at every character for its properties takes time. */
const PLAIN = /^[\t\n -~]*$/;

/** With every hidden character written out, as `\u{202e}`. Doing it twice changes nothing. */
export function escapeHidden(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(HIDDEN, written);
}

/** The same, but for the control characters that ASCII has. */
export function escapeUnseen(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(HIDDEN_BUT_C0, written);
}

/** For what a person types or pastes: without what steers the terminal. */
export function withoutControl(text: string): string {
  return text.replaceAll(CONTROL, "");
}

/** Whether a text has any of them, control characters of ASCII aside. */
export function hasUnseen(text: string): boolean {
  return !PLAIN.test(text) && HAS_HIDDEN.test(text);
}

function written(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** One line of JSON whose strings have hidden characters as escapes: the same value to whoever parses it. */
export function hiddenFreeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  return PLAIN.test(json) ? json : json.replaceAll(HIDDEN_BUT_C0, unitsOf);
}

function unitsOf(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return String.raw`\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");
}

/** A text that comes in pieces: what a joiner is part of, only the next piece may tell. */
export class EscapedPieces {
  /** The end of what was returned, as it came. */
  #before = "";
  #held = "";

  /** What can be shown by now. */
  push(piece: string): string {
    const text = this.#held + piece;
    const from = text.search(/(?:[\u200C\u200D]?[\uD800-\uDBFF]|[\u200C\u200D])$/);
    this.#held = from < 0 ? "" : text.slice(from);
    return this.#escaped(from < 0 ? text : text.slice(0, from));
  }

  /** What was held back. */
  end(): string {
    const text = this.#held;
    this.#held = "";
    return this.#escaped(text);
  }

  #escaped(text: string): string {
    const all = this.#before + text;
    const shown = escapeHidden(all).slice(escapeHidden(this.#before).length);
    this.#before = all.slice(-CONTEXT);
    return shown;
  }
}

/** In UTF-16 units: an emoji with its style and its colour, and a half in front. */
const CONTEXT = 8;
