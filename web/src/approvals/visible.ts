/**
 * With every character that hides itself or turns the direction of reading written out, as the terminal does it: what a
 * person reads is what runs. What joins the parts of one emoji, or parts letters as Persian is written, is seen already.
 */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

const JOINED = String.raw`(?<=\p{Extended_Pictographic}\uFE0F?\p{Emoji_Modifier}?)\u200D(?=\p{Extended_Pictographic})`;
const PARTED = String.raw`(?<=\p{Script=Arabic})\u200C(?=\p{Script=Arabic})`;
const HIDDEN = new RegExp(
  String.raw`(?!${JOINED}|${PARTED})[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u200B-\u200F\u2028-\u202E\u2060-\u2069\u115F\u1160\u3164\uFFA0\uFEFF\u{E0000}-\u{E007F}]`,
  "gu",
);
