import { totalmem } from "node:os";
import { type CapacitySettings, capacityOf } from "../../core/environment/server-schema.ts";
import { familyReader } from "../../process/limits.ts";
import { findCgroups, memoryRoom } from "../../process/pressure/cgroup.ts";
import { loopDelay } from "../../process/pressure/loop-delay.ts";
import { stallReader } from "../../process/pressure/stalls.ts";
import { Admission } from "../../runtime/engine/admission.ts";
import { Processes } from "../../runtime/engine/processes.ts";
import { clock } from "../clock.ts";

/** In milliseconds: turns that start together need not read the same files again. */
const READ_EVERY = 500;

/** How much this host can take on, given its limits and the state of its own processes. */
export function hostCapacity(settings: CapacitySettings): {
  readonly admission: Admission;
  readonly processes: Processes;
} {
  const cgroups = findCgroups();
  const capacity = capacityOf(settings, memoryRoom(cgroups)?.total ?? totalmem());
  const processes = new Processes({
    ceilings: {
      maxIdle: capacity.max_idle_processes,
      maxAgeMs: capacity.max_process_age_ms,
      maxBytes: capacity.max_process_bytes,
    },
    now: () => clock.now(),
    memoryOf,
  });
  const readStalls = stallReader(cgroups);
  const hasRoom = cacheFor(
    () =>
      hasCapacity(capacity, {
        free: memoryRoom(cgroups)?.free ?? process.availableMemory(),
        loopDelay: loopDelay(),
        stalls: readStalls(),
        heldBytes: () => process.memoryUsage.rss() + processes.bytes,
      }),
    READ_EVERY,
  );
  return {
    admission: new Admission({ maxTurns: capacity.max_turns, maxQueue: capacity.max_queue, hasRoom }),
    processes,
  };
}

/** The load of a host. In bytes, milliseconds and percent. */
export interface HostPressure {
  readonly free: number;
  readonly loopDelay: number;
  readonly stalls: { readonly cpu: number; readonly memory: number };
  /** Memory of this process and its agent processes. Called last, because it reads the process table. */
  readonly heldBytes: () => number;
}

/** Whether another turn may start next to the current ones. */
export function hasCapacity(capacity: Required<CapacitySettings>, now: HostPressure): boolean {
  return (
    now.free >= capacity.min_free_bytes &&
    now.loopDelay <= capacity.max_loop_delay_ms &&
    now.stalls.cpu <= capacity.max_cpu_pressure &&
    now.stalls.memory <= capacity.max_memory_pressure &&
    now.heldBytes() <= capacity.max_memory_bytes
  );
}

function cacheFor(read: () => boolean, forMs: number): () => boolean {
  let known = true;
  let until = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() < until) return known;
    known = read();
    until = performance.now() + forMs;
    return known;
  };
}

/** Empty if unknown, for example without /proc. */
function memoryOf(pids: readonly number[]): ReadonlyMap<number, number> {
  try {
    const useOf = familyReader();
    return new Map(pids.map((pid) => [pid, useOf(pid).memory_bytes]));
  } catch {
    return new Map();
  }
}
