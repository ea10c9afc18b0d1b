import { crc32 } from "node:zlib";

/** One event as Amazon frames it: lengths, a checksum of them, headers, the event, a checksum of all. */
export function eventStreamFrame(payload: string, headers: Readonly<Record<string, string>>): Buffer {
  const fields = Object.entries(headers).map(([name, value]) =>
    Buffer.concat([
      Buffer.from([name.length]),
      Buffer.from(name),
      // A string follows, and its length.
      Buffer.from([7, value.length >> 8, value.length & 0xff]),
      Buffer.from(value),
    ]),
  );
  const head = Buffer.concat(fields);
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  const message = Buffer.concat([prelude, checksum(prelude), head, body]);
  return Buffer.concat([message, checksum(message)]);
}

/** An event of the Messages API as Bedrock streams it. */
export function bedrockChunk(event: string): Buffer {
  return eventStreamFrame(JSON.stringify({ bytes: Buffer.from(event).toString("base64") }), {
    ":event-type": "chunk",
    ":content-type": "application/json",
    ":message-type": "event",
  });
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
