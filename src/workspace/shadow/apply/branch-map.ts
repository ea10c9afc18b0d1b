import { realpathSync } from "node:fs";
import type { BranchRequest, WorkspaceLocation } from "../../../core/ports/workspace.ts";
import { hostMap, isOfGit } from "../host-entry.ts";
import { type BytePath, bytePath } from "../paths.ts";
import type { UserRepository } from "../user-repository.ts";

/** Maps a file of the workspace to its path in the repository; undefined if it is read-only or has none. */
export function branchMap(
  { checkout, prefix }: UserRepository,
  { kind, source }: WorkspaceLocation,
  mounts: BranchRequest["mounts"] = [],
): (path: BytePath) => BytePath | undefined {
  if (kind === "worktree" || kind === "clone") return (path) => bytePath(prefix) + path;
  const where = hostMap(mounts, source);
  const top = bytePath(realpathSync(checkout));
  return (path) => {
    const host = where(path);
    if (host === undefined || host.readOnly) return undefined;
    const onHost = `${bytePath(realpathSync(host.root))}/${host.path}`;
    const inside = onHost.slice(top.length + 1);
    return onHost.startsWith(`${top}/`) && !isOfGit(inside) ? inside : undefined;
  };
}
