import { homeDirectory } from "../../config/project/home.ts";
import { findProject } from "../../config/project/project.ts";
import type { Files } from "../../runtime/files/files.ts";
import { openRecords } from "./records.ts";
import { chosenServer } from "./server.ts";
import { lastSession, resolveSession } from "./session-id.ts";

/** What commands need of a session's files, here or on a server. */
export type CommandFiles = Pick<
  Files,
  "checkpoints" | "diff" | "patch" | "rewind" | "undoRewind" | "exportPatch" | "exportZip" | "exportBranch" | "apply"
>;

export interface SessionFiles extends AsyncDisposable {
  readonly files: CommandFiles;
  readonly sessionId: string;
}

/** Opens the files of a session; by default the project's last one, as for `run --continue`. */
export async function sessionFiles(given: string | undefined): Promise<SessionFiles> {
  const sessionId = await findSession(given);
  const server = await chosenServer();
  if (server !== undefined) {
    const { remoteFiles } = await import("./remote-files.ts");
    return { files: remoteFiles(server), sessionId, [Symbol.asyncDispose]: async () => {} };
  }
  const { openFiles } = await import("../../app/host/open-files.ts");
  const { files, ...opened } = await openFiles(homeDirectory(process.env).path, process.env);
  return { files, sessionId, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}

async function findSession(given: string | undefined): Promise<string> {
  await using records = await openRecords();
  return given === undefined
    ? await lastSession(records, { project: findProject(process.cwd(), process.env).id, directory: process.cwd() })
    : await resolveSession(records, given);
}
