import { parentPort, workerData } from "node:worker_threads";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { type HeavyContext, type JobName, JOBS } from "./jobs.ts";
import type { HeavyRequest, HeavyResult } from "./messages.ts";

/** The thread of a `WorkerPool`: runs one job at a time, until it is ended. */

const place = workerData as HeavyContext;

parentPort?.on("message", ({ name, input }: HeavyRequest) => {
  // The caller checks a job's input by the job's name.
  const job = JOBS[name as JobName] as (at: HeavyContext, given: unknown) => Promise<unknown>;
  job(place, input).then(
    (value) => say({ value }),
    (thrown: unknown) => say({ failure: failureOf(thrown) }),
  );
});

function say(said: HeavyResult): void {
  const bytes = said.value instanceof Uint8Array ? said.value : (said.value as { bytes?: unknown } | undefined)?.bytes;
  // Transfer the bytes, to avoid a copy in the other thread.
  parentPort?.postMessage(said, bytes instanceof Uint8Array ? [bytes.buffer as ArrayBuffer] : []);
}

function failureOf(thrown: unknown): NonNullable<HeavyResult["failure"]> {
  if (!(thrown instanceof CapstanError)) return { message: messageOf(thrown) };
  const { code, message, data, retryable } = thrown;
  return { code, message, data, retryable };
}
