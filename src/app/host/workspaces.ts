import { homedir } from "node:os";
import { join } from "node:path";
import type { Workspaces } from "../../core/ports/workspace.ts";
import { openShadow } from "../../workspace/shadow/shadow.ts";
import { createWorkspaces } from "../../workspace/workspaces.ts";

/** The workspaces of the host with this `home`. */
export function workspacesIn(home: string, mountRoots: readonly string[]): Workspaces {
  return createWorkspaces({
    root: join(home, "workspaces"),
    mountRoots,
    home: homedir(),
    capstanHome: home,
    openShadow,
  });
}
