import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { messageOf } from "../../core/errors.ts";
import type { EventOf } from "../../core/events/events.ts";
import { MAX_OUTPUT_BYTES, MAX_SESSION_OUTPUT_BYTES } from "../../core/tool-output/tool-outputs.ts";
import { whole } from "../../core/text/thousands.ts";
import type { SessionBasics } from "../session-deps.ts";

/** The fields of a result's event that describe the full output. */
export interface OutputFacts {
  readonly whole_output?: NonNullable<EventOf<"agent.tool_result">["whole_output"]>;
  readonly detail?: string;
}

/** Secrets are searched a little past the cut, because half a secret would not be recognized. */
const MARGIN = 64 * 1024;

/**
 * Saves what a tool wrote to `file` next to the log, with secrets redacted. Cuts the middle of an output that is too
 * large and adds a line that says so. Never rejects: the event reports failures.
 */
export async function keepOutput(
  { record, store, log }: Pick<SessionBasics, "record" | "store" | "log">,
  file: string,
): Promise<OutputFacts> {
  try {
    // The agent's processes can also write to the engine's directory.
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${file} is not a regular file.`);
    const { size } = stats;
    const left = MAX_SESSION_OUTPUT_BYTES - (await store.toolOutputs.size(record.id));
    if (Math.min(size, MAX_OUTPUT_BYTES) > left) return { whole_output: { bytes: 0, total: size }, detail: NO_ROOM };
    const content = Buffer.from(await textOf(handle, size, (text) => log.withoutSecrets(text)));
    return { whole_output: { ...(await store.toolOutputs.write(record.id, content)), total: size } };
  } catch (thrown) {
    return { detail: `The full output could not be saved: ${messageOf(thrown)}` };
  }
}

const NO_ROOM = `The full output was not saved: a session's outputs are limited to ${whole(MAX_SESSION_OUTPUT_BYTES)} bytes.`;

async function textOf(handle: FileHandle, size: number, redact: (text: string) => string): Promise<string> {
  if (size <= MAX_OUTPUT_BYTES) return redact((await bytesAt(handle, 0, size)).toString("utf8"));
  const half = MAX_OUTPUT_BYTES / 2;
  const head = redact((await bytesAt(handle, 0, half + MARGIN)).toString("utf8"));
  const tail = redact((await bytesAt(handle, size - half - MARGIN, half + MARGIN)).toString("utf8"));
  const cut = `\n[${whole(size - MAX_OUTPUT_BYTES)} of ${whole(size)} bytes omitted: the limit is ${whole(MAX_OUTPUT_BYTES)}]\n`;
  return `${head.slice(0, half)}${cut}${tail.slice(-half)}`;
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read({ buffer, position, length });
  return buffer.subarray(0, bytesRead);
}
