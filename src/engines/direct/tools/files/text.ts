import { isUtf8 } from "node:buffer";

export type Encoding = "utf8" | "utf16le";

/** A file as text, with what is needed to write it back unchanged. */
export interface TextFile {
  /** With `\n` as the only line ending. */
  readonly text: string;
  readonly encoding: Encoding;
  readonly byteOrderMark: boolean;
  readonly carriageReturns: boolean;
  /** Why it can't be written back without loss. */
  readonly flaw?: "encoding" | "nul";
}

const LOOKED_AT = 8_192;
const MARK = "\uFEFF";

export function decodeText(bytes: Buffer): TextFile {
  const isWide = bytes.length >= 2 && bytes[0] === 0xff && bytes[1] === 0xfe;
  const encoding = isWide ? "utf16le" : "utf8";
  const decoded = bytes.toString(encoding);
  const byteOrderMark = decoded.startsWith(MARK);
  const plain = byteOrderMark ? decoded.slice(1) : decoded;
  const hasNul = !isWide && bytes.subarray(0, LOOKED_AT).includes(0);
  const flaw = hasNul ? "nul" : isWide || isUtf8(bytes) ? undefined : "encoding";
  return {
    text: plain.replaceAll("\r\n", "\n"),
    encoding,
    byteOrderMark,
    carriageReturns: usesCarriageReturns(plain),
    ...(flaw !== undefined && { flaw }),
  };
}

export function encodeText(
  text: string,
  { encoding, byteOrderMark, carriageReturns }: Pick<TextFile, "encoding" | "byteOrderMark" | "carriageReturns">,
): Buffer {
  const lines = carriageReturns ? text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n") : text;
  return Buffer.from((byteOrderMark ? MARK : "") + lines, encoding);
}

export const PLAIN: Pick<TextFile, "encoding" | "byteOrderMark" | "carriageReturns"> = {
  encoding: "utf8",
  byteOrderMark: false,
  carriageReturns: false,
};

/** Whether most lines end with a carriage return. */
function usesCarriageReturns(text: string): boolean {
  const all = text.split("\n").length - 1;
  return all > 0 && (text.split("\r\n").length - 1) * 2 > all;
}

/** Extensions of formats that are not text, whatever their first bytes look like. */
const BINARY_EXTENSIONS = new Set(
  "7z a avi bin bmp bz2 class db dll dylib ear exe flac gz ico iso jar mkv mov mp3 mp4 mpeg o obj ogg otf pyc rar so sqlite sqlite3 tar tgz tiff ttf war wasm wav webm woff woff2 xz zip zst dat doc docx xls xlsx ppt pptx".split(
    " ",
  ),
);

/** Whether the engine does not show this file: by its extension, or by bytes that no text contains. */
export function isBinary(extension: string, bytes: Buffer): boolean {
  return BINARY_EXTENSIONS.has(extension.toLowerCase()) && bytes.subarray(0, LOOKED_AT).includes(0);
}
