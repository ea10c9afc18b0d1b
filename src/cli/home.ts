import { openStore } from "../app/open-store.ts";
import { homeDirectory } from "../config/home.ts";
import type { Store } from "../core/store.ts";

/** The store of this user, without reading any configuration file. */
export function userStore(): Promise<Store> {
  return openStore(homeDirectory(process.env).path);
}
