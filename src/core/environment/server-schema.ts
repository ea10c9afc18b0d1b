import { z } from "zod";

/** How much work a host accepts, and the limits of a server. Every field is optional; `capacityOf` has the defaults. */

const count = z.int().positive();
const bytes = z.int().positive();
const percent = z.number().min(0).max(100);

export const capacitySettings = z.strictObject({
  /** Turns that run at the same time (default: depends on the machine's memory). */
  max_turns: count.optional(),
  /** Turns that may wait for a slot; beyond that, requests are refused. */
  max_queue: z.int().min(0).optional(),
  /** Agent processes that wait for a message. */
  max_idle_processes: z.int().min(0).optional(),
  /** An idle process that is older, in milliseconds, or uses more memory is ended. */
  max_process_age_ms: count.optional(),
  max_process_bytes: bytes.optional(),
  /** No further turn starts while less memory is free, … */
  min_free_bytes: z.int().min(0).optional(),
  /** … while the host and its agent processes use more, … */
  max_memory_bytes: bytes.optional(),
  /** … while they wait for a processor or for memory for more of the time, in percent (100: no limit), … */
  max_cpu_pressure: percent.optional(),
  max_memory_pressure: percent.optional(),
  /** … or while the host's event loop is late by more milliseconds. */
  max_loop_delay_ms: count.optional(),
});

export const serverSettings = z.strictObject({
  capacity: capacitySettings.optional(),
  /** Per request. */
  max_body_bytes: bytes.optional(),
  max_upload_bytes: bytes.optional(),
  /** Per key. */
  requests_per_minute: count.optional(),
  /** Whether programs on this machine may read the metrics without a key. */
  open_metrics: z.boolean().optional(),
  /** Whether webhooks and repositories requested over HTTP may use addresses of this machine and private networks. */
  allow_private_addresses: z.boolean().optional(),
});

export type CapacitySettings = z.infer<typeof capacitySettings>;
export type ServerSettingsFile = z.infer<typeof serverSettings>;

const MEBIBYTE = 1_048_576;
/** Rough memory use of one agent process, with a command or two. */
const TURN_BYTES = 400 * MEBIBYTE;

/** The settings, with defaults for a machine with this much memory, in bytes. */
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
