import { readlinkSync, statfsSync } from "node:fs";

/** The machine's own namespace; the kernel gives it this number everywhere. */
export const MACHINE = "4026531836";

/** Linux's type number for the proc file system. */
const PROC_MAGIC = 0x9f_a0;

/**
 * The number of this process's PID namespace. Undefined if the system has none (not Linux), and "unknown" if something
 * hides it, such as a file system mounted over `/proc`. A process cannot return to a namespace that it has left, nor
 * can its descendants.
 */
export function pidNamespace(): string | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    if (statfsSync("/proc").type !== PROC_MAGIC) return UNKNOWN;
    return /\[(\d+)\]/.exec(readlinkSync("/proc/self/ns/pid"))?.[1] ?? UNKNOWN;
  } catch {
    return UNKNOWN;
  }
}

export const UNKNOWN = "unknown";
