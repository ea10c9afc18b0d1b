import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { pipeline } from "node:stream/promises";
import { eraseSession, importArchive } from "../../app/record/session-files.ts";
import { homeDirectory } from "../../config/project/home.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { whyKept } from "./kept-workspace.ts";
import { usage } from "../terminal/failure.ts";
import { userStore } from "../target/home.ts";
import { openRecords } from "../target/records.ts";
import { resolveSession } from "../target/session-id.ts";
import { shortId } from "../terminal/text.ts";
import { writeWholeStream } from "../terminal/whole-file.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

export async function exportTo(given: string, file: string | undefined): Promise<void> {
  await using records = await openRecords();
  const id = await resolveSession(records, given);
  if (file !== undefined && existsSync(file))
    throw usage(`${file} is there already. Choose another name, or remove it.`);
  const lines = (async function* () {
    for await (const line of records.archive(id)) yield `${line}\n`;
  })();
  // What the reader does not take yet stays in the store. What is wrong with standard output, main.ts tells.
  if (file === undefined)
    return await pipeline(lines, process.stdout, { end: false }).catch((thrown: unknown) => {
      if ((thrown as NodeJS.ErrnoException).syscall !== "write") throw thrown;
    });
  await writeWholeStream(file, lines).catch(wrongFile(file));
  process.stderr.write(`Session ${shortId(id)} is in ${file}. Read it with: capstan sessions import ${file}\n`);
}

export async function importFrom(file: string, flags: { readonly trust?: boolean } = {}): Promise<void> {
  if (!existsSync(file)) throw usage(`There is no file ${file}.`);
  await using store = await userStore();
  const lines = createInterface({ input: createReadStream(file, "utf8"), crlfDelay: Infinity });
  const id = await importArchive(store, lines, flags).catch(wrongFile(file));
  process.stdout.write(`Imported as session ${shortId(id)}. Go on with: capstan run --resume ${shortId(id)} "…"\n`);
}

export interface DeleteOptions {
  readonly quiet?: boolean;
  /** What an agent changed in a workspace of its own may be lost. */
  readonly discardChanges?: boolean;
}

/** One that cannot be erased does not keep the others; what is in the way of the first is thrown in the end. */
export async function deleteAll(
  given: readonly string[],
  { quiet = false, discardChanges = false }: DeleteOptions = {},
): Promise<void> {
  await using store = await userStore();
  const home = homeDirectory(process.env).path;
  // All names are looked up first, so that a mistake in one erases nothing.
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
    if (!quiet) process.stdout.write(`Session ${shortId(sessionId)} is erased. Its hashes and a tombstone stay.\n`);
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
    `Session ${session} is kept: ${why}; or lose them with: capstan sessions delete ${session} --discard-changes`,
  );
}

/** What the operating system says of a path, with the path and the next step. */
function wrongFile(file: string): (thrown: unknown) => never {
  return (thrown) => {
    if ((thrown as NodeJS.ErrnoException).syscall === undefined) throw thrown;
    throw usage(`${file} cannot be used: ${messageOf(thrown)}. Name another file.`);
  };
}
