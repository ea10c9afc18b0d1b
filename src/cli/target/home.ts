import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { findProject } from "../../config/project/project.ts";
import { openStore } from "../../app/open-store.ts";
import { homeDirectory } from "../../config/project/home.ts";
import type { Store } from "../../core/ports/store.ts";
import { refuseOnServer } from "./server.ts";

/** Opens this user's store without reading any configuration file. */
export function userStore(): Promise<Store> {
  return openStore(homeDirectory(process.env).path);
}

/** The id of the project that `--project` names: the one that contains the directory. */
export function projectOf(given: string): string {
  refuseOnServer("--project", "A key belongs to one project. Omit --project, or use a key of that project.");
  if (given === "default") return given;
  const directory = resolve(given);
  // A deleted directory may still have sessions.
  if (!existsSync(directory)) return directory;
  return findProject(directory, process.env).root ?? realpathSync(directory);
}
