import { readFileSync } from "node:fs";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { nothingToDo, readMessage } from "./message.ts";
import type { RunFlags } from "./run-flags.ts";

/** Undefined only for a resumed session, which may continue without a message. */
export async function messageFor(
  words: readonly string[],
  { file = [], resume, continue: last }: RunFlags,
): ReturnType<typeof readMessage> {
  const message = await readMessage(words, file);
  const mayBeEmpty = (resume !== undefined || last === true) && file.length === 0;
  if (message === undefined && !mayBeEmpty) throw nothingToDo(file);
  return message;
}

export function readSchema(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
  } catch (thrown) {
    throw new CapstanError("invalid_schema", `Cannot read the schema ${file} as JSON: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}
