import type { Readable } from "node:stream";

/**
 * Passes on everything before a mark. Resolves at the mark or at the end; later output is read and dropped, so that a
 * process that still writes is neither blocked nor killed.
 */
export function untilMark(stream: Readable, mark: string, take: (chunk: Buffer) => Promise<void>): Promise<void> {
  const sought = Buffer.from(mark);
  return new Promise((resolve, reject) => {
    const read = async (): Promise<void> => {
      let held: Buffer = Buffer.alloc(0);
      let isOver = false;
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        if (isOver) continue;
        const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
        const at = bytes.indexOf(sought);
        isOver = at >= 0;
        const known = isOver ? at : bytes.length - beginningAtEnd(bytes, sought);
        held = bytes.subarray(known);
        if (known > 0) await take(bytes.subarray(0, known));
        if (isOver) resolve();
      }
      if (!isOver && held.length > 0) await take(held);
    };
    read().then(resolve, reject);
  });
}

/** How many bytes at the end could be the start of the mark. */
function beginningAtEnd(bytes: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, bytes.length); length > 0; length--)
    if (bytes.subarray(bytes.length - length).equals(mark.subarray(0, length))) return length;
  return 0;
}
