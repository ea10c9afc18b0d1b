import { rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { diskFailure } from "../../disk-failure.ts";
import type { CheckpointCommit } from "../checkpoint-commit.ts";
import { randomName, type ShadowRepository } from "../repository.ts";

/** Writes a temporary file and renames it, so that the file is always complete. */
export async function exportZip(repository: ShadowRepository, { tree }: CheckpointCommit, file: string): Promise<void> {
  const aside = join(dirname(resolve(file)), `.${randomName()}.zip`);
  try {
    await repository.git(["archive", "--format=zip", tree], { outputFile: aside });
    await rename(aside, file);
  } catch (thrown) {
    throw diskFailure(thrown, "Writing", file);
  } finally {
    await rm(aside, { force: true });
  }
}
