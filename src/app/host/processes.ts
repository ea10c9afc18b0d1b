import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { LeaseOwner } from "../../core/ports/store.ts";

/** Identifies the owner of a lease. A pid is meaningful only on one machine and in one PID namespace. */
export function thisProcess(hostId: string): LeaseOwner {
  return { hostId, pid: process.pid, hostname: pidSpace() };
}

/** True only if it is certain: a process elsewhere, or one whose pid is in use again, keeps its lease. */
export function isGone(owner: LeaseOwner): boolean {
  if (owner.hostname !== pidSpace()) return false;
  try {
    process.kill(owner.pid, 0);
    return false;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function pidSpace(): string {
  try {
    return `${hostname()}/${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    // Not Linux: the whole machine has one set of pids.
    return hostname();
  }
}
