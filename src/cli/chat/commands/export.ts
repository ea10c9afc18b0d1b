import { existsSync, mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { homeDirectory } from "../../../config/project/home.ts";
import { messageOf } from "../../../core/errors.ts";
import { usageError } from "../../terminal/failure.ts";
import { openRecords } from "../../target/records.ts";
import { shortId } from "../../terminal/text.ts";
import { isBelow } from "../../terminal/directory.ts";
import { writeWholeStream } from "../../terminal/write-file.ts";
import type { ChatSession } from "../host/host.ts";

/** Writes a session's log to a file that only the user can read. */
export async function writeExport(
  { id, record }: ChatSession,
  given: string,
): Promise<{ readonly file: string; readonly isInWorkspace: boolean }> {
  const file = given === "" ? freeName(id, exportDirectory(record.cwd)) : resolve(given);
  await using records = await openRecords();
  const lines = (async function* () {
    for await (const line of records.archive(id)) yield `${line}\n`;
  })();
  try {
    if (given === "") mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    await writeWholeStream(file, lines);
  } catch (thrown) {
    const { code, syscall } = thrown as NodeJS.ErrnoException;
    if (code === "EEXIST") throw usageError(`${file} already exists. Choose another name, or remove it.`);
    if (syscall === undefined) throw thrown;
    throw usageError(`Cannot write ${file}: ${messageOf(thrown)}. Choose another file: /export FILE`);
  }
  return { file, isInWorkspace: isBelow(dirname(file), record.cwd) };
}

/** The current directory, unless it is in the workspace: there, the file would count as the agent's work. */
function exportDirectory(workspace: string): string {
  const here = process.cwd();
  return isBelow(here, workspace) ? join(homeDirectory(process.env).path, "exports") : here;
}

/** Never overwrites an earlier export. */
function freeName(id: string, directory: string): string {
  for (let nth = 1; ; nth += 1) {
    const file = join(directory, `session-${shortId(id)}${nth === 1 ? "" : `-${nth}`}.jsonl`);
    if (!existsSync(file)) return file;
  }
}
