import { readdirSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AppliedChange } from "../../../core/ports/workspace.ts";
import { git } from "../../git.ts";
import { type HostEntry, linkObstacle, wayTo } from "../host-entry.ts";
import { type BytePath, pathOnDisk } from "../paths.ts";
import type { ShadowRepository } from "../repository.ts";
import { sameContent, type Version, versionAt, type VersionChange } from "../changes/versions.ts";

/** One file of the host, and its planned change. */
export interface ApplyStep {
  readonly file: Buffer;
  readonly how: AppliedChange["how"];
  readonly place: HostEntry;
  /** The version at planning time; it must be unchanged when the step is performed. */
  readonly expected: Version | undefined;
  /** Absent to delete it. */
  readonly write?: { readonly kind: Version["kind"]; readonly content: Content; readonly mode: number };
}

/** By its hash in git, or as merged. */
type Content = { readonly hash: string } | { readonly merged: Buffer };

type Change = VersionChange & { readonly host: HostEntry | undefined };
type Removed = (root: string, path: BytePath) => boolean;

/** Plans a step, or returns why it is not possible. */
export async function planChange(
  repository: ShadowRepository,
  { before, after, host }: Change,
  removed: Removed,
): Promise<ApplyStep | string> {
  if (host === undefined) return "it is in no mount, so it has no place on the host";
  if (host.readOnly) return "its mount is read-only";
  const way = wayTo(host, (parent) => removed(host.root, parent));
  if (typeof way === "object") return way.blocked;
  const file = pathOnDisk(host.root, host.path);
  const found = way === "cleared" ? undefined : await versionAt(file);
  if (found === "something else") return "on the host it is neither a file nor a link";
  if (found === "directory" && !isEmptied(host, removed)) return "on the host it is a directory";
  // A directory whose files are all deleted is gone by then.
  const now = found === "directory" ? undefined : found;
  const step = { file, place: host, expected: now };
  if (after === undefined) {
    if (now === undefined) return { ...step, how: "already" };
    return sameContent(now, before) ? { ...step, how: "deleted" } : "it was changed on the host and deleted here";
  }
  if (after.kind === "link" && !sameContent(now, after)) {
    const obstacle = linkObstacle(host, (await blob(repository, after.hash)).toString("latin1"));
    if (obstacle !== undefined) return obstacle;
  }
  // Permissions that did not change here stay as on the host.
  const mode = before?.kind === "file" && now?.kind === "file" && before.mode === after.mode ? now.mode : after.mode;
  const write = { kind: after.kind, content: { hash: after.hash }, mode };
  if (sameContent(now, after))
    return now?.mode === mode ? { ...step, how: "already" } : { ...step, how: "written", write };
  if (sameContent(now, before)) return { ...step, how: "written", write };
  if (now === undefined) return "it was deleted on the host and changed here";
  if (before === undefined) return "the host has another file of that name";
  if (now.kind !== "file" || before.kind !== "file" || after.kind !== "file") return "it was changed on the host too";
  const merged = await merge(repository, { base: before.hash, ours: after.hash, host: file });
  if (merged === undefined) return "it was changed on the host too, and the changes cannot be merged";
  if (merged.equals(await readFile(file))) return { ...step, how: "already" };
  return { ...step, how: "merged", write: { ...write, content: { merged } } };
}

function isEmptied({ root, path }: HostEntry, removed: Removed): boolean {
  return readdirSync(pathOnDisk(root, path), { withFileTypes: true, encoding: "latin1" }).every((entry) => {
    const inside = `${path}/${entry.name}`;
    return entry.isDirectory() ? isEmptied({ root, path: inside, readOnly: false }, removed) : removed(root, inside);
  });
}

/** Undefined if the changes overlap or the file is not text. */
async function merge(
  repository: ShadowRepository,
  { base, ours, host }: { readonly base: string; readonly ours: string; readonly host: Buffer },
): Promise<Buffer | undefined> {
  const directory = await mkdtemp(join(repository.path, "merge-"));
  const names = ["host", "base", "ours"].map((name) => join(directory, name));
  const [hostFile = "", baseFile = "", oursFile = ""] = names;
  try {
    await writeFile(hostFile, await readFile(host));
    await writeFile(baseFile, await blob(repository, base));
    await writeFile(oursFile, await blob(repository, ours));
    // The exit code is the number of conflicts, or 255 if such files cannot be merged.
    const codes = Array.from({ length: 255 }, (_, code) => code + 1);
    const { stdout, code } = await git(["merge-file", "-p", "-q", hostFile, baseFile, oursFile], {
      cwd: directory,
      accept: codes,
    });
    return code === 0 ? stdout : undefined;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export async function blob(repository: ShadowRepository, hash: string): Promise<Buffer> {
  return (await repository.git(["cat-file", "blob", hash])).stdout;
}
