import { closeSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CapstanError } from "../../core/errors.ts";
import type { Store } from "../../core/store.ts";
import type { Database } from "./database.ts";
import { copyDatabase, syncToDisk } from "./disk.ts";
import { storeFailure } from "./failure.ts";

export function backups(database: Database): Pick<Store, "backup"> {
  return {
    async backup(path) {
      const target = resolve(path);
      // The copy has a connection of its own; a closed store is still to say that it is closed.
      database.read(() => {});
      reserve(target);
      const unfinished = `${target}.tmp`;
      try {
        rmSync(unfinished, { force: true });
        using source = new DatabaseSync(database.path, { readOnly: true });
        await copyDatabase(source, unfinished);
        // The name stands for a whole copy, or for an empty file when the process died on the way.
        renameSync(unfinished, target);
        syncToDisk(dirname(target));
      } catch (thrown) {
        for (const file of [target, unfinished, `${unfinished}-journal`]) rmSync(file, { force: true });
        throw storeFailure(thrown, target);
      }
    },
  };
}

/** Takes the name, so that of two backups to one path only one is made, and nothing is ever overwritten. */
function reserve(target: string): void {
  try {
    closeSync(openSync(target, "wx", 0o600));
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")
      throw new CapstanError(
        "store_failed",
        `There is a file ${target} already, and a backup overwrites nothing. Choose another path, or move that file away.`,
        { data: { path: target }, cause: thrown },
      );
    throw storeFailure(thrown, target);
  }
}
