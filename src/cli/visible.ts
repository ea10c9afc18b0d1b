/**
 * With every character that steers the terminal, hides itself or turns the direction of reading written out: what a
 * person reads is what runs.
 */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- control characters are what it is about
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u200B-\u200F\u2028-\u202E\u2060-\u2069\u115F\u1160\u3164\uFFA0\uFEFF\u{E0000}-\u{E007F}]/gu;

/** Lines of at most `width` characters, broken between words where that is possible. */
export function wrapped(text: string, width: number): string[] {
  const room = Math.max(width, 20);
  const lines: string[] = [];
  let rest = Array.from(text);
  while (rest.length > room) {
    const space = rest.lastIndexOf(" ", room);
    const at = space > room / 2 ? space : room;
    lines.push(rest.slice(0, at).join(""));
    rest = rest.slice(space > room / 2 ? at + 1 : at);
  }
  return [...lines, rest.join("")];
}
