import { randomUUID } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { openOwnFile, removeOwn } from "../../../process/own-files.ts";

/** Bytes. Larger output goes to a file, so that a command that floods its output uses no host memory. */
const IN_MEMORY = 128 * 1024;

/** One output of a command: in memory while it is small, then in a file. */
export class CapturedOutput {
  readonly #directory: string;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #file: { readonly path: string; readonly handle: FileHandle } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async write(chunk: Buffer): Promise<void> {
    this.#bytes += chunk.length;
    if (this.#file === undefined) {
      this.#chunks.push(chunk);
      if (this.#bytes > IN_MEMORY) await this.#spill();
    } else await this.#file.handle.appendFile(chunk);
  }

  async #spill(): Promise<void> {
    const path = join(this.#directory, `${randomUUID()}.part`);
    const handle = await openOwnFile(path);
    this.#file = { path, handle };
    await handle.appendFile(Buffer.concat(this.#chunks));
    this.#chunks = [];
  }

  /** The whole output, if it is in memory. */
  get small(): Buffer | undefined {
    return this.#file === undefined ? Buffer.concat(this.#chunks) : undefined;
  }

  async appendTo(target: FileHandle): Promise<void> {
    if (this.#file === undefined) return target.appendFile(Buffer.concat(this.#chunks));
    // Reads the file that was written, even if its path now leads elsewhere.
    const { handle } = this.#file;
    for (let position = 0; ;) {
      const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(IN_MEMORY), position, length: IN_MEMORY });
      if (bytesRead === 0) return;
      await target.appendFile(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
  }

  async discard(): Promise<void> {
    this.#chunks = [];
    if (this.#file === undefined) return;
    await this.#file.handle.close();
    removeOwn(this.#file.path);
  }
}

/** Bytes at both ends of a file, with at least `characters` characters each. */
export async function endsOf(
  handle: FileHandle,
  characters: number,
): Promise<{ head: Buffer; tail: Buffer; size: number }> {
  const { size } = await handle.stat();
  // A character has at most four bytes.
  const length = Math.min(size, characters * 4);
  const at = async (position: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(length), position, length });
    return buffer.subarray(0, bytesRead);
  };
  return { head: await at(0), tail: await at(size - length), size };
}

/** Text for a model: invalid UTF-8, and NUL, which stores refuse, become U+FFFD. */
export function decodeOutput(bytes: Buffer): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replaceAll("\0", "\uFFFD");
}
