import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { CapstanError } from "../../core/errors.ts";
import { onAbort } from "../../core/text/on-abort.ts";
import { type Asking, HeavySlots } from "../../server/heavy/slots.ts";
import type { HeavyPlace, JobInput, JobName, JobOutput } from "./jobs.ts";
import type { Asked, Said } from "./messages.ts";

export interface PoolLimits {
  /** In mebibytes: what the heap of one thread may take. */
  readonly heapMb: number;
  /** In milliseconds: what one job may take, and how long a thread without one is kept. */
  readonly jobMs: number;
  readonly idleMs: number;
}

const LIMITS: PoolLimits = { heapMb: 256, jobMs: 120_000, idleMs: 30_000 };

/** Beside this file in a clone; seen from dist/ and from its folders otherwise. */
const PLACES = ["./worker.ts", "./workers/heavy.js", "../workers/heavy.js"];

/** Runs jobs in threads of their own, which have limits; a job that exceeds one fails, and nothing else does. */
export class WorkerPool implements AsyncDisposable {
  readonly #place: HeavyPlace;
  readonly #limits: PoolLimits;
  readonly #slots = new HeavySlots();
  /** Those without a job, with what ends them when none comes. */
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #all = new Set<Worker>();

  constructor(place: HeavyPlace, limits: Partial<PoolLimits> = {}) {
    this.#place = place;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** One at a time for each key. When the caller leaves, the job is ended. */
  run<Name extends JobName>(name: Name, input: JobInput<Name>, asking: Asking): Promise<JobOutput<Name>> {
    return this.#slots.run(asking, async () => {
      const worker = this.#wake() ?? this.#start();
      try {
        const said = await this.#answerOf(worker, { name, input }, asking.signal);
        this.#rest(worker);
        if (said.failure !== undefined) throw errorOf(said.failure);
        return said.value as JobOutput<Name>;
      } finally {
        if (!this.#idle.has(worker)) await this.#end(worker);
      }
    });
  }

  /** The threads there are now. */
  get threads(): number {
    return this.#all.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#all].map((worker) => this.#end(worker)));
  }

  #start(): Worker {
    const { heapMb } = this.#limits;
    const worker = new Worker(entry(), {
      workerData: this.#place,
      env: {},
      // Not those of whoever started this process.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: heapMb / 8 },
    });
    // What happens to one without a job is of no interest; the next job finds that it is gone.
    worker.on("error", () => {});
    worker.on("exit", () => this.#forget(worker));
    this.#all.add(worker);
    return worker;
  }

  async #answerOf(worker: Worker, asked: Asked, signal: AbortSignal): Promise<Said> {
    const { promise, resolve, reject } = Promise.withResolvers<Said>();
    const failed = (error: NodeJS.ErrnoException): void =>
      reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? this.#tooMuch("memory") : error);
    const ended = (): void => reject(new Error("The thread ended before it answered."));
    const timer = setTimeout(() => reject(this.#tooMuch("time")), this.#limits.jobMs);
    const takeBack = onAbort(signal, () => reject(signal.reason as Error));
    worker.once("message", resolve).once("error", failed).once("exit", ended);
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, and no window
      worker.postMessage(asked);
      return await promise;
    } finally {
      clearTimeout(timer);
      takeBack();
      worker.off("message", resolve).off("error", failed).off("exit", ended);
    }
  }

  #rest(worker: Worker): void {
    worker.unref();
    this.#idle.set(worker, setTimeout(() => void this.#end(worker), this.#limits.idleMs).unref());
  }

  #wake(): Worker | undefined {
    const [next] = this.#idle;
    if (next === undefined) return undefined;
    const [worker, timer] = next;
    clearTimeout(timer);
    this.#idle.delete(worker);
    worker.ref();
    return worker;
  }

  async #end(worker: Worker): Promise<void> {
    this.#forget(worker);
    await worker.terminate();
  }

  #forget(worker: Worker): void {
    this.#all.delete(worker);
    clearTimeout(this.#idle.get(worker));
    this.#idle.delete(worker);
  }

  #tooMuch(what: "memory" | "time"): CapstanError {
    const { heapMb, jobMs } = this.#limits;
    const limit = what === "memory" ? `more than ${heapMb} MiB of memory` : `longer than ${jobMs / 1_000} s`;
    return new CapstanError(
      "too_large",
      `This takes ${limit}, which is more than one request may use. Narrow it, for example to one session or to a shorter time.`,
      { data: { limit: what } },
    );
  }
}

function errorOf({ code, message, data, retryable }: NonNullable<Said["failure"]>): Error {
  if (code === undefined) return new Error(message);
  return new CapstanError(code, message, {
    ...(data !== undefined && { data }),
    ...(retryable !== undefined && { retryable }),
  });
}

function entry(): URL {
  const found = PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (found === undefined) throw new Error("The program of the threads is missing. Install Capstan again.");
  return found;
}
