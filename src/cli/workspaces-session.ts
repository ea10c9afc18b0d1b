import { openFiles } from "../app/open-files.ts";
import { homeDirectory } from "../config/home.ts";
import { findProject } from "../config/project.ts";
import type { Files } from "../runtime/files.ts";
import { userStore } from "./home.ts";
import { lastSession, resolveSession } from "./session-id.ts";

export interface SessionFiles extends AsyncDisposable {
  readonly files: Files;
  readonly sessionId: string;
}

/** The files of the session that is meant: without a name the project's last one, as for `run --continue`. */
export async function sessionFiles(given: string | undefined): Promise<SessionFiles> {
  const sessionId = await meant(given);
  const { files, ...opened } = await openFiles(homeDirectory(process.env).path, process.env);
  return { files, sessionId, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

async function meant(given: string | undefined): Promise<string> {
  await using store = await userStore();
  return given === undefined
    ? lastSession(store, findProject(process.cwd(), process.env).id)
    : resolveSession(store, given);
}
