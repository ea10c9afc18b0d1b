import { z } from "zod";

/** How much a host takes on, and what a server lets through. Every field is optional; `capacityOf` has the defaults. */

const count = z.int().positive();
const bytes = z.int().positive();
const percent = z.number().min(0).max(100);

export const capacitySettings = z.strictObject({
  /** Turns under way at the same time. Default: what the memory of the machine allows. */
  max_turns: count.optional(),
  /** Turns that may wait for a place; beyond that a request is refused. */
  max_queue: z.int().min(0).optional(),
  /** Agent processes that wait for a message. */
  max_idle_processes: z.int().min(0).optional(),
  /** An idle process that is older, in milliseconds, or holds more memory is ended. */
  max_process_age_ms: count.optional(),
  max_process_bytes: bytes.optional(),
  /** No turn is begun beside others while less memory is free, … */
  min_free_bytes: z.int().min(0).optional(),
  /** … while the host and its agent processes hold more, … */
  max_memory_bytes: bytes.optional(),
  /** … while they wait for a processor, or for memory, for more of the time, in per cent; 100 is never, … */
  max_cpu_pressure: percent.optional(),
  max_memory_pressure: percent.optional(),
  /** … or while the host itself is late by more milliseconds. */
  max_loop_delay_ms: count.optional(),
});

export const serverSettings = z.strictObject({
  capacity: capacitySettings.optional(),
  /** Of one request. */
  max_body_bytes: bytes.optional(),
  max_upload_bytes: bytes.optional(),
  /** For each key. */
  requests_per_minute: count.optional(),
  /** Whether programs on this machine may read the metrics without a key. */
  open_metrics: z.boolean().optional(),
  /** Whether webhooks may be sent to, and repositories that are given over HTTP cloned from, this machine and private networks. */
  allow_private_addresses: z.boolean().optional(),
});

export type CapacitySettings = z.infer<typeof capacitySettings>;
export type ServerSettingsFile = z.infer<typeof serverSettings>;

const MEBIBYTE = 1_048_576;
/** What one agent process takes, roughly, with a command or two beside it. */
const TURN_BYTES = 400 * MEBIBYTE;

/** The settings with what is left out filled in for a machine with so much memory, in bytes. */
export function capacityOf(given: CapacitySettings, memory: number): Required<CapacitySettings> {
  const turns = Math.max(2, Math.floor((memory * 0.75) / TURN_BYTES));
  return {
    max_turns: turns,
    max_queue: 100,
    max_idle_processes: Math.max(1, Math.floor(turns / 2)),
    max_process_age_ms: 6 * 3_600_000,
    max_process_bytes: 1024 * MEBIBYTE,
    min_free_bytes: 256 * MEBIBYTE,
    max_memory_bytes: Math.floor(memory * 0.85),
    max_cpu_pressure: 90,
    max_memory_pressure: 20,
    max_loop_delay_ms: 500,
    ...given,
  };
}
