import { parentPort, workerData } from "node:worker_threads";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { type HeavyPlace, type JobName, JOBS } from "./jobs.ts";
import type { Asked, Said } from "./messages.ts";

/** The other end of `WorkerPool`: one job at a time, until the thread is ended. */

const place = workerData as HeavyPlace;

parentPort?.on("message", ({ name, input }: Asked) => {
  // What a job takes is checked where it is called, by its name.
  const job = JOBS[name as JobName] as (at: HeavyPlace, given: unknown) => Promise<unknown>;
  job(place, input).then(
    (value) => say({ value }),
    (thrown: unknown) => say({ failure: failureOf(thrown) }),
  );
});

function say(said: Said): void {
  const bytes = said.value instanceof Uint8Array ? said.value : (said.value as { bytes?: unknown } | undefined)?.bytes;
  // Bytes change hands: a copy of them would be made in the other thread.
  parentPort?.postMessage(said, bytes instanceof Uint8Array ? [bytes.buffer as ArrayBuffer] : []);
}

function failureOf(thrown: unknown): NonNullable<Said["failure"]> {
  if (!(thrown instanceof CapstanError)) return { message: messageOf(thrown) };
  const { code, message, data, retryable } = thrown;
  return { code, message, data, retryable };
}
