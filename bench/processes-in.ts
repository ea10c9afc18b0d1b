import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const GRACE_MS = 3_000;

/** Processes that still work under `directory` after a short grace period; everything the cases start works there. */
export async function processesIn(directory: string): Promise<readonly string[]> {
  for (const until = performance.now() + GRACE_MS; performance.now() < until; await sleep(100))
    if (inside(directory).length === 0) return [];
  return inside(directory);
}

function inside(directory: string): string[] {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && workingDirectory(pid).startsWith(directory));
}

function workingDirectory(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It has ended since, or it is not ours.
    return "";
  }
}
