/** Characters that nobody sees, by their numbers: written down apart from the list that is tested. */
const RANGES: readonly (readonly [first: number, last: number])[] = [
  [0x01, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0xe0001, 0xe0001],
  [0xe0020, 0xe007f],
  [0xe0100, 0xe0110],
];

export const HIDDEN_CHARACTERS: readonly string[] = RANGES.flatMap(([first, last]) =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)),
);

/** Those that a text has, a program's own colours and line breaks aside. */
export function hiddenIn(text: string): string[] {
  const own = text.replaceAll("\r\n", "\n");
  return HIDDEN_CHARACTERS.filter((character) => own.includes(character)).map((character) =>
    (character.codePointAt(0) ?? 0).toString(16),
  );
}
