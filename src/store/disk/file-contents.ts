import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { FileContents } from "../../core/ports/registry.ts";

/** Also prevents a path from leading out of the directory. */
const FILE_ID = /^file_[0-9a-f]{32}$/;
const UNFINISHED = ".part";
/** Longer than any upload takes: older files were left by a killed process. */
const LEFT_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * Keeps the content of uploaded files in a private directory, in files named by their ids. Several processes may share
 * the directory.
 */
export function fileContentsIn(directory: string): FileContents {
  const root = resolve(directory);
  let swept = false;

  function path(id: string): string {
    if (!FILE_ID.test(id)) throw notAnId(id);
    return join(root, id);
  }

  return {
    path,

    async write(id, bytes, maxBytes) {
      const target = path(id);
      const unfinished = `${target}.${randomUUID()}${UNFINISHED}`;
      await onDisk(root, () => mkdir(root, { recursive: true, mode: 0o700 }));
      if (!swept) await onDisk(root, () => sweep(root));
      swept = true;
      try {
        const sizeBytes = await writeWhole(unfinished, { bytes, maxBytes });
        await onDisk(target, () => rename(unfinished, target));
        await onDisk(root, () => syncToDisk(root));
        return { sizeBytes };
      } catch (thrown) {
        // If this fails as well, the first failure is reported.
        await rm(unfinished, { force: true }).catch(() => {});
        throw thrown;
      }
    },

    async read(id) {
      const source = path(id);
      if (!existsSync(source)) throw contentMissing(id);
      const file = await onDisk(source, () => open(source));
      // Closed with the stream, even if it is not read to its end.
      return Readable.toWeb(file.createReadStream());
    },

    async remove(id) {
      await onDisk(path(id), () => rm(path(id), { force: true }));
    },
  };
}

async function sweep(root: string): Promise<void> {
  for (const name of await readdir(root))
    if (name.endsWith(UNFINISHED) && (await isLeft(join(root, name)))) await rm(join(root, name), { force: true });
}

/** Uses the machine's clock, as file times do. */
async function isLeft(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > LEFT_AFTER_MS;
}

/** Returns the number of bytes. Errors of the sender are passed on unchanged. */
async function writeWhole(
  path: string,
  { bytes, maxBytes }: { readonly bytes: ReadableStream<Uint8Array>; readonly maxBytes: number },
): Promise<number> {
  await using file = await onDisk(path, () => open(path, "wx", 0o600));
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    // Continues where the last one ended.
    await onDisk(path, () => file.writeFile(chunk));
  }
  await onDisk(path, () => file.sync());
  return size;
}

/** Waits until the names in a directory are on disk. */
async function syncToDisk(directory: string): Promise<void> {
  await using names = await open(directory);
  await names.sync();
}

function tooLarge(maxBytes: number): CapstanError {
  return new CapstanError(
    "too_large",
    `The file has more than ${maxBytes} bytes, which is the limit. It was not saved. Send a smaller one.`,
    { data: { maxBytes } },
  );
}

function contentMissing(id: string): CapstanError {
  return new CapstanError(
    "not_found",
    `The content of ${id} no longer exists: it was removed, or was not part of a restored backup. Upload it again.`,
    { data: { id } },
  );
}

function notAnId(id: string): CapstanError {
  return new CapstanError(
    "invalid_input",
    `${JSON.stringify(id)} is not a file id, which is "file_" and 32 hex digits. List the files to find it.`,
    { data: { id } },
  );
}

/** What the file system throws becomes an error that says what to do. */
async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw diskFailure(thrown, path);
  }
}

function diskFailure(thrown: unknown, path: string): CapstanError {
  const details = { cause: thrown, data: { path } };
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new CapstanError(
      "store_full",
      `The disk of ${path} is full; nothing of this file was kept. Free some space and try again.`,
      { ...details, retryable: true },
    );
  return new CapstanError(
    "store_failed",
    `${path} cannot be used (${messageOf(thrown)}). Give this user read and write permission for its directory, or choose another.`,
    details,
  );
}
