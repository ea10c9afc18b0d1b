import { join } from "node:path";
import type { Store } from "../core/store.ts";
import { restoreStore } from "../store/sqlite/restore.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import { clock } from "./clock.ts";

function storePath(home: string): string {
  return join(home, "capstan.db");
}

/** The store alone, for what needs no agent: it starts no server and knows no credential. */
export function openStore(home: string): Promise<Store> {
  return openSqliteStore({ path: storePath(home), clock });
}

/** Puts a backup in the place of the store. Tells under which name the store that was there is kept. */
export function restoreFrom(home: string, from: string): Promise<{ readonly keptAs: string | undefined }> {
  return restoreStore({ path: storePath(home), from, clock });
}
