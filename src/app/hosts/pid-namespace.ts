import { readlinkSync, statfsSync } from "node:fs";

/** The namespace that the machine itself runs in; the kernel gives it this number everywhere. */
export const MACHINE = "4026531836";

/** What Linux calls its process file system. */
const PROC_MAGIC = 0x9f_a0;

/**
 * The number of the PID namespace that this process lives in. Undefined where the system has none (not Linux), and
 * "unknown" where it has and something hides it, such as a file system mounted over `/proc`. Nothing that a process does
 * brings it or its descendants back to a namespace that it has left.
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
