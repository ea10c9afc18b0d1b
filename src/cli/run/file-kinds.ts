/** A kind of file that is attached as binary data, not as text. */
export interface Kind {
  /** With its article, for use in sentences. */
  readonly name: string;
  readonly mediaType: string;
  /** The most common one first. */
  readonly extensions: readonly [string, ...string[]];
  /** Whether a file starts with this kind's signature. */
  readonly begins: (bytes: Buffer) => boolean;
}

const at = (bytes: Buffer, { from, text }: { from: number; text: string }): boolean =>
  bytes.subarray(from, from + text.length).equals(Buffer.from(text, "latin1"));

/** PDF readers accept some bytes before the signature. */
const PDF_SIGNATURE_WITHIN = 1_024;

const KINDS: readonly Kind[] = [
  {
    name: "a PNG image",
    mediaType: "image/png",
    extensions: [".png"],
    begins: (bytes) => at(bytes, { from: 0, text: "\u0089PNG\r\n\u001A\n" }),
  },
  {
    name: "a JPEG image",
    mediaType: "image/jpeg",
    extensions: [".jpg", ".jpeg"],
    begins: (bytes) => at(bytes, { from: 0, text: "\u00FF\u00D8\u00FF" }),
  },
  {
    name: "a GIF image",
    mediaType: "image/gif",
    extensions: [".gif"],
    begins: (bytes) => ["GIF87a", "GIF89a"].some((text) => at(bytes, { from: 0, text })),
  },
  {
    name: "a WebP image",
    mediaType: "image/webp",
    extensions: [".webp"],
    begins: (bytes) => at(bytes, { from: 0, text: "RIFF" }) && at(bytes, { from: 8, text: "WEBP" }),
  },
  {
    name: "a PDF",
    mediaType: "application/pdf",
    extensions: [".pdf"],
    begins: (bytes) => bytes.subarray(0, PDF_SIGNATURE_WITHIN).includes("%PDF-"),
  },
];

export function kindByName(extension: string): Kind | undefined {
  return KINDS.find(({ extensions }) => extensions.includes(extension.toLowerCase()));
}

export function kindByContent(bytes: Buffer): Kind | undefined {
  return KINDS.find(({ begins }) => begins(bytes));
}
