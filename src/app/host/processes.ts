import { readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { LeaseOwner } from "../../core/ports/store.ts";

/** Who holds a lease. A pid means something only on one machine and in one PID namespace. */
export function thisProcess(hostId: string): LeaseOwner {
  return { hostId, pid: process.pid, hostname: pidSpace() };
}

/** True only when it is certain: a process elsewhere, or one whose pid is in use again, is left its lease. */
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
    // Not Linux: there is one space of pids for the whole machine.
    return hostname();
  }
}
