import { availableParallelism, loadavg, totalmem } from "node:os";
import { readFileSync } from "node:fs";
import { type CapacitySettings, capacityOf } from "../core/server-schema.ts";
import { familyReader } from "../process/limits.ts";
import { Admission } from "../runtime/admission.ts";
import { Processes } from "../runtime/processes.ts";
import { clock } from "./clock.ts";

/** What this machine can take on. */
export function machineCapacity(settings: CapacitySettings): {
  readonly admission: Admission;
  readonly processes: Processes;
} {
  const capacity = capacityOf(settings, totalMemory());
  const hasRoom = (): boolean =>
    process.availableMemory() >= capacity.min_free_bytes &&
    (loadavg()[0] ?? 0) / availableParallelism() <= capacity.max_load;
  return {
    admission: new Admission({ maxTurns: capacity.max_turns, maxQueue: capacity.max_queue, hasRoom }),
    processes: new Processes({
      ceilings: {
        maxIdle: capacity.max_idle_processes,
        maxAgeMs: capacity.max_process_age_ms,
        maxBytes: capacity.max_process_bytes,
      },
      now: () => clock.now(),
      memoryOf,
    }),
  };
}

/** A container may have less than the machine. */
function totalMemory(): number {
  try {
    const limit = Number(readFileSync("/sys/fs/cgroup/memory.max", "utf8"));
    return Number.isFinite(limit) ? Math.min(limit, totalmem()) : totalmem();
  } catch {
    return totalmem();
  }
}

/** Empty where it cannot be told, such as without /proc. */
function memoryOf(pids: readonly number[]): ReadonlyMap<number, number> {
  try {
    const useOf = familyReader();
    return new Map(pids.map((pid) => [pid, useOf(pid).memory_bytes]));
  } catch {
    return new Map();
  }
}
