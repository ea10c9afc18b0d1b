/**
 * Characters that people do not see: they control a terminal, take no space, or change the direction of text, so that
 * it reads as something else. The only such list, for terminals, reports, the console and the rules for commands.
 */

/** All except tab and line feed. */
const C0 = String.raw`\u0000-\u0008\u000B-\u001F`;
const UNSEEN = [
  String.raw`\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E`,
  String.raw`\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}\p{Cs}`,
].join("");

/** Scripts that use joiners: Persian separates letters with one, Indic scripts choose a form. */
const JOINING = ["Arabic", "Syriac", "Mongolian", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil"]
  .concat(["Telugu", "Kannada", "Malayalam", "Sinhala"])
  .map((script) => String.raw`\p{Script=${script}}`)
  .join("");
const PICTURE = String.raw`\p{Extended_Pictographic}`;
/** Part of a visible character: an emoji composed of several, its style, or a letter next to another. */
const SEEN = [
  String.raw`(?<=${PICTURE}\uFE0F?\p{Emoji_Modifier}?)\u200D(?=${PICTURE})`,
  String.raw`(?<=[${PICTURE}0-9#*])[\uFE0E\uFE0F]`,
  String.raw`(?<=[${JOINING}])[\u200C\u200D](?=[${JOINING}])`,
].join("|");

const HIDDEN = new RegExp(`(?!${SEEN})[${C0}${UNSEEN}]`, "gu");
const HIDDEN_BUT_C0 = new RegExp(`(?!${SEEN})[${UNSEEN}]`, "gu");
const HAS_HIDDEN = new RegExp(`(?!${SEEN})[${UNSEEN}]`, "u");
const CONTROL = new RegExp(String.raw`[${C0}\u007F-\u009F]`, "g");
/** Most text has none, and checking every character's properties takes time. */
const PLAIN = /^[\t\n -~]*$/;

/** Writes every hidden character as an escape such as `\u{202e}`. Idempotent. */
export function escapeHidden(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(HIDDEN, codePointEscape);
}

/** The same, except for ASCII control characters. */
export function escapeUnseen(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(HIDDEN_BUT_C0, codePointEscape);
}

/** For text that a person types or pastes: removes terminal control characters. */
export function withoutControl(text: string): string {
  return text.replaceAll(CONTROL, "");
}

/** Whether a text has any of them, except ASCII control characters. */
export function hasUnseen(text: string): boolean {
  return !PLAIN.test(text) && HAS_HIDDEN.test(text);
}

function codePointEscape(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** One line of JSON with hidden characters as escapes: the same value when parsed. */
export function hiddenFreeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  return PLAIN.test(json) ? json : json.replaceAll(HIDDEN_BUT_C0, unitsOf);
}

function unitsOf(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return String.raw`\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");
}

/** Escapes a text that arrives in pieces: only the next piece may show what a joiner is part of. */
export class EscapedPieces {
  /** The end of the returned text, unescaped. */
  #before = "";
  #held = "";

  /** Returns what can be shown now. */
  push(piece: string): string {
    const text = this.#held + piece;
    const from = text.search(/(?:[\u200C\u200D]?[\uD800-\uDBFF]|[\u200C\u200D])$/);
    this.#held = from < 0 ? "" : text.slice(from);
    return this.#escape(from < 0 ? text : text.slice(0, from));
  }

  /** Returns the rest. */
  end(): string {
    const text = this.#held;
    this.#held = "";
    return this.#escape(text);
  }

  #escape(text: string): string {
    const all = this.#before + text;
    const shown = escapeHidden(all).slice(escapeHidden(this.#before).length);
    this.#before = all.slice(-CONTEXT);
    return shown;
  }
}

/** UTF-16 units: an emoji with its style and skin tone, and half a pair before it. */
const CONTEXT = 8;
