import { createRedactor } from "../../core/redaction/redaction.ts";
import { Feed } from "../../runtime/log/feed.ts";
import { Files } from "../../runtime/files/files.ts";
import { SessionLocks } from "../../runtime/log/session-locks.ts";
import { StoredWorkspaces } from "../../runtime/files/stored-workspaces.ts";
import { clock, ids } from "../clock.ts";
import { openStore } from "../open-store.ts";
import { isGone, thisProcess } from "./processes.ts";
import { workspacesIn } from "./workspaces.ts";

export interface OpenFiles extends AsyncDisposable {
  readonly files: Files;
  readonly workspaces: StoredWorkspaces;
}

/** Access to the files of the sessions in `home`, without a host: no model, no credentials. */
export async function openFiles(
  home: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<OpenFiles> {
  const store = await openStore(home, environment);
  const deps = {
    store,
    workspaces: workspacesIn(home, []),
    clock,
    ids,
    owner: thisProcess(ids.next("host")),
    isGone,
    redactor: createRedactor(),
    feed: () => new Feed(),
    findDriven: () => undefined,
    locks: new SessionLocks(),
  };
  return {
    files: new Files(deps),
    workspaces: new StoredWorkspaces(deps),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}
