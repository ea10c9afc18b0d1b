import { randomUUID } from "node:crypto";
import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CapstanError } from "../../../core/errors.ts";
import type { Store } from "../../../core/ports/store.ts";
import type { Database } from "./database.ts";
import { copyDatabase, syncToDisk } from "./disk.ts";
import { storeFailure } from "./failure.ts";

export function backups(database: Database): Pick<Store, "backup"> {
  return {
    async backup(path) {
      const target = resolve(path);
      // The copy has its own connection, so check here that the store is not closed.
      database.read(() => {});
      if (existsSync(target)) throw targetExistsError(target);
      // The name is only used for a complete copy: a process that dies on the way leaves nothing under it.
      const unfinished = join(dirname(target), `.capstan-${randomUUID()}.partial`);
      try {
        using source = new DatabaseSync(database.path, { readOnly: true });
        await copyDatabase(source, unfinished);
        putInPlace(unfinished, target);
        syncToDisk(dirname(target));
      } catch (thrown) {
        throw storeFailure(thrown, target);
      } finally {
        for (const file of [unfinished, `${unfinished}-journal`]) rmSync(file, { force: true });
      }
    },
  };
}

/**
 * A link never replaces a file, so of two backups to one path only one succeeds. Not every file system supports links.
 */
function putInPlace(unfinished: string, target: string): void {
  try {
    linkSync(unfinished, target);
  } catch (thrown) {
    const code = (thrown as NodeJS.ErrnoException).code;
    if (code === "EEXIST" || existsSync(target)) throw targetExistsError(target, thrown);
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw thrown;
    renameSync(unfinished, target);
  }
}

function targetExistsError(target: string, cause?: unknown): CapstanError {
  return new CapstanError(
    "store_failed",
    `${target} already exists, and a backup does not overwrite files. Choose another path, or move that file.`,
    { data: { path: target }, ...(cause !== undefined && { cause }) },
  );
}
