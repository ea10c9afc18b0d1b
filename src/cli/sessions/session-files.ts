import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { eraseSession, importArchive } from "../../app/record/session-files.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { whyKept } from "./kept-workspace.ts";
import { usageError } from "../terminal/failure.ts";
import { userStore } from "../target/home.ts";
import { openRecords } from "../target/records.ts";
import { resolveSession } from "../target/session-id.ts";
import { shortId } from "../terminal/text.ts";
import { writeWholeStream } from "../terminal/write-file.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

export async function exportSessionFile(given: string, file: string | undefined): Promise<void> {
  await using records = await openRecords();
  const id = await resolveSession(records, given);
  if (file !== undefined && existsSync(file))
    throw usageError(`${file} already exists. Choose another name, or remove it.`);
  const lines = (async function* () {
    for await (const line of records.archive(id)) yield `${line}\n`;
  })();
  // `pipeline` waits for slow readers. main.ts reports errors of standard output.
  if (file === undefined)
    return await pipeline(lines, process.stdout, { end: false }).catch((thrown: unknown) => {
      if ((thrown as NodeJS.ErrnoException).syscall !== "write") throw thrown;
    });
  await writeWholeStream(file, lines).catch(wrongFile(file));
  process.stderr.write(`Session ${shortId(id)} exported to ${file}. To import it: capstan sessions import ${file}\n`);
}

export async function importFrom(file: string, flags: { readonly trust?: boolean } = {}): Promise<void> {
  if (!existsSync(file)) throw usageError(`File not found: ${file}`);
  await using store = await userStore();
  const lines = createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity });
  const id = await importArchive(store, lines, flags).catch(wrongFile(file));
  process.stdout.write(`Imported as session ${shortId(id)}. Continue with: capstan run --resume ${shortId(id)} "…"\n`);
}

export interface DeleteOptions {
  readonly quiet?: boolean;
  /** Delete unexported changes too. */
  readonly discardChanges?: boolean;
}

/** Erases all sessions that it can, then throws the first failure. */
export async function deleteAll(
  given: readonly string[],
  { quiet = false, discardChanges = false }: DeleteOptions = {},
): Promise<void> {
  await using store = await userStore();
  const home = homeDirectory(process.env).path;
  // Resolves all ids first, so that a mistake in one erases nothing.
  const sessions = new Set<string>();
  for (const one of given) sessions.add(await resolveSession(store, one));
  const failures: CapstanError[] = [];
  for (const sessionId of sessions) {
    try {
      await eraseSession(store, { home, sessionId, discardChanges });
    } catch (thrown) {
      if (!(thrown instanceof CapstanError)) throw thrown;
      failures.push(thrown.code === "workspace_conflict" ? notExported(sessionId, thrown) : thrown);
      continue;
    }
    if (!quiet) process.stdout.write(`Session ${shortId(sessionId)} erased. Its hashes and a tombstone remain.\n`);
  }
  const [first, ...others] = failures;
  for (const { message } of others) process.stderr.write(`capstan: ${escapeHidden(message)}\n`);
  if (first !== undefined) throw first;
}

function notExported(sessionId: string, conflict: CapstanError): CapstanError {
  const session = shortId(sessionId);
  const why = whyKept(sessionId, conflict);
  return new CapstanError(
    "workspace_conflict",
    `Session ${session} was not deleted: ${why}. To discard them: capstan sessions delete ${session} --discard-changes`,
  );
}

/** Adds the path and the next step to a file system error. */
function wrongFile(file: string): (thrown: unknown) => never {
  return (thrown) => {
    if ((thrown as NodeJS.ErrnoException).syscall === undefined) throw thrown;
    throw usageError(`Cannot use ${file}: ${messageOf(thrown)}. Choose another file.`);
  };
}
