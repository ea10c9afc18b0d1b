import { readFileSync } from "node:fs";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { nothingToDo, readMessage } from "./message.ts";
import type { RunFlags } from "./run-flags.ts";

/** Undefined only where nothing need be said: a session that waits for an answer goes on without it. */
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
    throw new CapstanError("invalid_schema", `The schema ${file} cannot be read as JSON: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}
