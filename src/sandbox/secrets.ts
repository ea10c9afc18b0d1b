import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isSecret, type SandboxPlan } from "../core/environment/sandbox.ts";

/** Directories with many files, where people do not keep secrets. */
export const LOOKED_PAST: readonly string[] = [".git", "node_modules"];

/** Existing secrets of the project. An unreadable directory counts as one. */
export async function findSecrets(plan: SandboxPlan): Promise<readonly string[]> {
  const found: string[] = [];
  const open = [plan.workspace];
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    const entries = await readdir(directory, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) found.push(directory);
    for (const entry of entries ?? []) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) {
        if (!LOOKED_PAST.includes(entry.name)) open.push(path);
      } else if (isSecret(path, plan)) found.push(path);
    }
  }
  return found;
}
