import { invalid } from "../../protocol/v1/refusal.ts";

/**
 * Reads a form part by part as it arrives, so that a large file is never in memory as a whole. Unread parts are
 * skipped.
 */
export interface FormPart {
  readonly name: string;
  readonly filename: string | undefined;
  /** The content-type. */
  readonly type: string | undefined;
  readonly body: ReadableStream<Uint8Array>;
}

/** In bytes: no client writes longer headers for a part. */
const MAX_HEADERS = 16_384;
const LINE_END = "\r\n";

/** The boundary between parts; throws if the request is not a form. */
export function boundaryOf(contentType: string | undefined): string {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? "") ?? [];
  const boundary = quoted ?? plain;
  if (boundary !== undefined) return boundary;
  throw invalid("Send the file as a form, with content-type: multipart/form-data and a boundary.");
}

export async function* readMultipart(body: ReadableStream<Uint8Array>, boundary: string): AsyncGenerator<FormPart> {
  const source = new Source(body);
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`, "latin1");
  try {
    // Skip what precedes the first part.
    await skip(source.until(delimiter));
    for (;;) {
      const after = await source.take(LINE_END.length);
      if (after === "--") return;
      if (after !== LINE_END) throw brokenForm();
      const headers = await readHeaders(source);
      const content = source.until(delimiter);
      yield partOf(headers, ReadableStream.from<Uint8Array>(content));
      await skip(content);
    }
  } finally {
    await source.close();
  }
}

async function readHeaders(source: Source): Promise<ReadonlyMap<string, string>> {
  const headers = new Map<string, string>();
  let left = MAX_HEADERS;
  for (;;) {
    const line = await source.line(left);
    if (line === "") return headers;
    left -= line.length + LINE_END.length;
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
}

function partOf(headers: ReadonlyMap<string, string>, body: FormPart["body"]): FormPart {
  const disposition = headers.get("content-disposition") ?? "";
  const name = parameter(disposition, "name");
  if (name === undefined) throw invalid("A part of the form has no name. Name it in its content-disposition.");
  return { name, filename: parameter(disposition, "filename"), type: headers.get("content-type"), body };
}

/** Reads a parameter in the formats of browsers and the official clients: quoted, or percent-encoded with a star. */
function parameter(disposition: string, name: string): string | undefined {
  const [, encoded] = new RegExp(`;\\s*${name}\\*=utf-8''([^;\\s]*)`, "i").exec(disposition) ?? [];
  const [, quoted] = new RegExp(`;\\s*${name}="((?:\\\\.|[^"\\\\])*)"`, "i").exec(disposition) ?? [];
  const [, plain] = new RegExp(`;\\s*${name}=([^;"\\s]+)`, "i").exec(disposition) ?? [];
  if (encoded !== undefined) return decodeName(encoded);
  // Browsers escape exactly these three characters.
  return quoted?.replaceAll(/\\(["\\])/g, "$1").replaceAll(/%(22|0D|0A)/gi, (text) => decodeName(text)) ?? plain;
}

function decodeName(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("A name in the form is not encoded correctly.");
  }
}

/** The bytes of a body, including those read ahead. */
class Source {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  // No line precedes the first boundary.
  #held = Buffer.from(LINE_END);

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** Yields what precedes the delimiter and consumes the delimiter. */
  async *until(delimiter: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#held.indexOf(delimiter);
      // The delimiter may begin at the end of the buffer.
      const end = at < 0 ? Math.max(0, this.#held.length - delimiter.length + 1) : at;
      const chunk = this.#held.subarray(0, end);
      this.#held = this.#held.subarray(at < 0 ? end : at + delimiter.length);
      if (chunk.length > 0) yield chunk;
      if (at >= 0) return;
      await this.#more();
    }
  }

  async line(max: number): Promise<string> {
    for (;;) {
      const at = this.#held.indexOf(LINE_END);
      if (at >= 0) {
        const line = this.#held.subarray(0, at).toString("utf8");
        this.#held = this.#held.subarray(at + LINE_END.length);
        return line;
      }
      if (this.#held.length > max) throw brokenForm();
      await this.#more();
    }
  }

  async take(count: number): Promise<string> {
    while (this.#held.length < count) await this.#more();
    const taken = this.#held.subarray(0, count).toString("latin1");
    this.#held = this.#held.subarray(count);
    return taken;
  }

  async close(): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }

  async #more(): Promise<void> {
    const { value, done } = await this.#reader.read();
    if (done) throw brokenForm();
    this.#held = Buffer.concat([this.#held, value]);
  }
}

async function skip(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _chunk of chunks) {
    // Discard it.
  }
}

function brokenForm(): Error {
  return invalid("The form is incomplete. Send each part with its boundary, and the last boundary followed by --.");
}
