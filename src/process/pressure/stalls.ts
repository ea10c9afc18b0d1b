import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Cgroups, readTextOrEmpty, type Throttling, throttling } from "./cgroup.ts";

/** Percent of the last ten seconds in which some process of this host's control group waited. */
export interface Stalls {
  readonly cpu: number;
  readonly memory: number;
}

/**
 * Reads how long processes waited for a processor or for memory. Waiting for a processor counts only in the host's own
 * control group: the figure of the whole machine depends on others. Waiting for memory always counts, because it slows
 * everything down. A figure that can't be read is 0.
 */
export function stallReader(cgroups: Cgroups, root = "/"): () => Stalls {
  const [own] = cgroups.unified;
  // Only the root of the machine's tree has no type.
  const isOwn = own !== undefined && existsSync(join(own, "cgroup.type"));
  const machine = join(root, "proc/pressure");
  const quota = throttledShare(() => throttling(cgroups));
  return () => ({
    cpu: Math.max(isOwn ? (pressureIn(join(own, "cpu.pressure")) ?? 0) : 0, quota()),
    memory: (isOwn ? pressureIn(join(own, "memory.pressure")) : undefined) ?? pressureIn(join(machine, "memory")) ?? 0,
  });
}

/** Undefined if the kernel does not report it. */
function pressureIn(file: string): number | undefined {
  const found = /^some avg10=(\d+(?:\.\d+)?) /m.exec(readTextOrEmpty(file))?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Percent of the periods since the last check in which the quota was used up. */
function throttledShare(read: () => Throttling | undefined): () => number {
  let last = read();
  let share = 0;
  return () => {
    const now = read();
    const periods = (now?.periods ?? 0) - (last?.periods ?? 0);
    // Nothing happens between two immediate checks.
    if (now === undefined || periods <= 0) return share;
    share = (100 * (now.throttled - (last?.throttled ?? 0))) / periods;
    last = now;
    return share;
  };
}
