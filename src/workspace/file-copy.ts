import { constants } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { CapstanError } from "../core/errors.ts";
import { diskFailure, printablePath, stopIfAborted } from "./disk-failure.ts";
import { checkUnchanged, FileChanged, openSeen, see, type SeenFile } from "./seen-file.ts";

export interface FileCopy {
  readonly file: SeenFile;
  readonly to: Buffer;
  readonly readOnly: boolean;
  readonly signal: AbortSignal | undefined;
  /** Receives the bytes by which the file has grown since the scan; throws if that is too much. */
  readonly grow: (bytes: number) => void;
  readonly onBytes: (bytes: number) => void;
}

const CHUNK_BYTES = 1_048_576;
/** Permission bits; setuid and setgid are not copied. */
const PERMISSIONS = 0o777;
const WRITING = 0o222;

/** Copies one file as of one moment. If it changes meanwhile, tries once more and then fails with its name. */
export async function copyFile(copy: FileCopy): Promise<void> {
  try {
    await copySeen(copy);
  } catch (error) {
    if (!(error instanceof FileChanged)) throw error;
    await copyAgain(copy);
  }
}

async function copyAgain(copy: FileCopy): Promise<void> {
  const { path, size } = copy.file;
  try {
    await rm(copy.to, { force: true });
    const file = await see(path);
    if (file === undefined) throw new FileChanged("no longer a file");
    copy.grow(file.size - size);
    await copySeen({ ...copy, file });
  } catch (error) {
    if (!(error instanceof FileChanged)) throw diskFailure(error, "Reading", path);
    throw new CapstanError(
      "workspace_failed",
      `${printablePath(path)} changed twice while it was being copied. Stop the program that writes it, or exclude the file.`,
      { cause: error, data: { path: path.toString() } },
    );
  }
}

async function copySeen(copy: FileCopy): Promise<void> {
  const { file, to, readOnly } = copy;
  await using from = await explainErrors(() => openSeen(file), "Reading", file.path);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  await using into = await explainErrors(
    () => open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600),
    "Writing",
    to,
  );
  await copyBytes(copy, from, into);
  await checkUnchanged(from, file);
  const seconds = Number(file.modified / 1_000n) / 1_000_000;
  await explainWriteErrors(async () => {
    await into.utimes(seconds, seconds);
    await into.chmod(file.mode & (readOnly ? PERMISSIONS & ~WRITING : PERMISSIONS));
  }, to);
}

/** Copies no more than the size that was counted, so that a growing file cannot fill the disk. */
async function copyBytes(copy: FileCopy, from: FileHandle, into: FileHandle): Promise<void> {
  const { file, to, signal, onBytes } = copy;
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, file.size));
  for (let position = 0; position < file.size;) {
    stopIfAborted(signal);
    const wanted = Math.min(buffer.length, file.size - position);
    const { bytesRead } = await explainErrors(() => from.read(buffer, 0, wanted, position), "Reading", file.path);
    if (bytesRead === 0) throw new FileChanged("shorter");
    await explainWriteErrors(() => into.writeFile(buffer.subarray(0, bytesRead)), to);
    position += bytesRead;
    onBytes(bytesRead);
  }
}

async function explainErrors<T>(work: () => Promise<T>, doing: string, path: Buffer): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof FileChanged ? error : diskFailure(error, doing, path);
  }
}

async function explainWriteErrors(work: () => Promise<unknown>, path: Buffer): Promise<void> {
  await explainErrors(work, "Writing", path);
}
