import { appendFileSync, writeFileSync } from "node:fs";
import { messageOf } from "../../core/errors.ts";
import { usageError } from "../terminal/failure.ts";

/** Receives a line for each event and preview. */
export type Trace = (line: string) => void;

/** Without a file, discards the lines. Only the owner can read the file, because it contains the whole conversation. */
export function openTrace(file: string | undefined): Trace {
  if (file === undefined) return () => {};
  try {
    writeFileSync(file, "", { mode: 0o600 });
  } catch (thrown) {
    throw usageError(`Cannot write the trace: ${messageOf(thrown)}. Choose another file.`);
  }
  return (line) => appendFileSync(file, `${line}\n`);
}
