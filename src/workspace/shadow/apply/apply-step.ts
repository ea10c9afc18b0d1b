import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, rename, rm, rmdir, symlink, unlink, writeFile } from "node:fs/promises";
import { CapstanError } from "../../../core/errors.ts";
import { diskFailure } from "../../disk-failure.ts";
import { blob, type ApplyStep } from "./apply-plan.ts";
import { type HostEntry, wayTo } from "../host-entry.ts";
import { HOST_PERMISSIONS } from "../changes/modes.ts";
import { pathOnDisk, parentsOf } from "../paths.ts";
import type { ShadowRepository } from "../repository.ts";
import { type Version, versionAt } from "../changes/versions.ts";

/** Writes or deletes one file of the host, unless it has changed since the plan. */
export async function stepNow(
  repository: ShadowRepository,
  { file, place, expected, write }: ApplyStep,
): Promise<void> {
  try {
    const way = wayTo(place, () => false);
    if (typeof way === "object") throw changeConflict(file, way.blocked);
    if (write === undefined) {
      await refuseIfChanged(file, expected);
      await unlink(file);
      await removeEmptyParents(place);
      return;
    }
    const aside = besides(file);
    await mkdir(parent(file), { recursive: true });
    // A killed attempt may have left it.
    await rm(aside, { force: true });
    try {
      const content = "hash" in write.content ? await blob(repository, write.content.hash) : write.content.merged;
      if (write.kind === "link") await symlink(content, aside);
      else {
        await writeFile(aside, content, { flag: "wx", mode: 0o600 });
        await chmod(aside, write.mode & HOST_PERMISSIONS);
      }
      if ((await versionAt(file)) === "directory") await removeEmptyTree(file);
      await refuseIfChanged(file, expected);
      await rename(aside, file);
    } finally {
      await rm(aside, { force: true });
    }
  } catch (thrown) {
    throw diskFailure(thrown, "Writing", file);
  }
}

async function refuseIfChanged(file: Buffer, expected: Version | undefined): Promise<void> {
  const now = await versionAt(file);
  const same =
    typeof now === "object"
      ? now.kind === expected?.kind && now.hash === expected.hash && now.mode === expected.mode
      : now === expected;
  if (!same) throw changeConflict(file, "it has just changed on the host");
}

function changeConflict(file: Buffer, why: string): CapstanError {
  return new CapstanError("workspace_conflict", `${file.toString("utf8")}: ${why}.`);
}

/** In the same directory, so that it can be renamed; always the same name, so that a retry finds it. */
function besides(file: Buffer): Buffer {
  const name = `.capstan-${createHash("sha1").update(file).digest("hex").slice(0, 16)}.tmp`;
  return Buffer.concat([parent(file), Buffer.from(`/${name}`)]);
}

function parent(file: Buffer): Buffer {
  return file.subarray(0, file.lastIndexOf("/"));
}

async function removeEmptyParents({ root, path }: HostEntry): Promise<void> {
  for (const directory of parentsOf(path).toReversed()) {
    const removed = await rmdir(pathOnDisk(root, directory)).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

/** Removes a directory that is to become a file. Keeps it if it contains any file. */
async function removeEmptyTree(directory: Buffer): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true, encoding: "buffer" }).catch(() => []);
  for (const entry of entries)
    if (entry.isDirectory()) await removeEmptyTree(Buffer.concat([directory, Buffer.from("/"), entry.name]));
  await rmdir(directory).catch(() => {});
}
