import { appendFileSync, writeFileSync } from "node:fs";
import { messageOf } from "../../core/errors.ts";
import { usage } from "../terminal/failure.ts";

/** Takes a line for each event and preview. */
export type Trace = (line: string) => void;

/** Writes lines to the file, or nowhere. It holds everything that was said, so it is for its owner alone. */
export function openTrace(file: string | undefined): Trace {
  if (file === undefined) return () => {};
  try {
    writeFileSync(file, "", { mode: 0o600 });
  } catch (thrown) {
    throw usage(`The trace cannot be written: ${messageOf(thrown)}. Choose another file.`);
  }
  return (line) => appendFileSync(file, `${line}\n`);
}
