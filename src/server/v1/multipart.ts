import { invalid } from "../../protocol/v1/refusal.ts";

/**
 * Reads a form as it arrives, part by part, so that a large file never stands in memory as a whole. A part that nobody
 * reads is skipped.
 */
export interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  /** Its content-type. */
  readonly type: string | undefined;
  readonly body: ReadableStream<Uint8Array>;
}

/** In bytes: no client writes more about a part. */
const MAX_HEADERS = 16_384;
const LINE_END = "\r\n";

/** What stands between the parts; throws when the request is no form. */
export function boundaryOf(contentType: string | undefined): string {
  const [, quoted, plain] =
    /^multipart\/form-data\s*;.*\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType ?? "") ?? [];
  const boundary = quoted ?? plain;
  if (boundary !== undefined) return boundary;
  throw invalid("Send the file as a form, with content-type: multipart/form-data and a boundary.");
}

export async function* readMultipart(body: ReadableStream<Uint8Array>, boundary: string): AsyncGenerator<Part> {
  const source = new Source(body);
  const delimiter = Buffer.from(`${LINE_END}--${boundary}`, "latin1");
  try {
    // What stands before the first part is nobody's.
    await skip(source.until(delimiter));
    for (;;) {
      const after = await source.take(LINE_END.length);
      if (after === "--") return;
      if (after !== LINE_END) throw broken();
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

function partOf(headers: ReadonlyMap<string, string>, body: Part["body"]): Part {
  const disposition = headers.get("content-disposition") ?? "";
  const name = parameter(disposition, "name");
  if (name === undefined) throw invalid("A part of the form has no name. Name it in its content-disposition.");
  return { name, filename: parameter(disposition, "filename"), type: headers.get("content-type"), body };
}

/** As browsers and the official clients write it: in quotes, or percent-encoded with a star. */
function parameter(disposition: string, name: string): string | undefined {
  const [, encoded] = new RegExp(`;\\s*${name}\\*=utf-8''([^;\\s]*)`, "i").exec(disposition) ?? [];
  const [, quoted] = new RegExp(`;\\s*${name}="((?:\\\\.|[^"\\\\])*)"`, "i").exec(disposition) ?? [];
  const [, plain] = new RegExp(`;\\s*${name}=([^;"\\s]+)`, "i").exec(disposition) ?? [];
  if (encoded !== undefined) return decoded(encoded);
  // Browsers write three characters this way, and no other.
  return quoted?.replaceAll(/\\(["\\])/g, "$1").replaceAll(/%(22|0D|0A)/gi, (text) => decoded(text)) ?? plain;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("A name in the form is not encoded correctly.");
  }
}

/** The bytes of a body, with what was read too far. */
class Source {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  // The first boundary has no line before it.
  #held = Buffer.from(LINE_END);

  constructor(body: ReadableStream<Uint8Array>) {
    this.#reader = body.getReader();
  }

  /** What comes before the delimiter, which is taken as well. */
  async *until(delimiter: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#held.indexOf(delimiter);
      // The delimiter may have begun at the end of what is there.
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
      if (this.#held.length > max) throw broken();
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
    if (done) throw broken();
    this.#held = Buffer.concat([this.#held, value]);
  }
}

async function skip(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _chunk of chunks) {
    // Nobody wants it.
  }
}

function broken(): Error {
  return invalid("The form is not whole. Send each part with its boundary, and the last boundary with -- after it.");
}
