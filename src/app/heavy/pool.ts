import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { CapstanError } from "../../core/errors.ts";
import { onAbort } from "../../core/text/on-abort.ts";
import { type HeavyCaller, HeavySlots } from "../../server/heavy/slots.ts";
import type { HeavyContext, JobInput, JobName, JobOutput } from "./jobs.ts";
import type { HeavyRequest, HeavyResult } from "./messages.ts";

export interface PoolLimits {
  /** In mebibytes: the maximum heap of one thread. */
  readonly heapMb: number;
  /** In milliseconds: the time limit of one job, and how long an idle thread is kept. */
  readonly jobMs: number;
  readonly idleMs: number;
}

const LIMITS: PoolLimits = { heapMb: 256, jobMs: 120_000, idleMs: 30_000 };

/** Next to this file in a clone; otherwise relative to dist/ and its folders. */
const PLACES = ["./worker.ts", "./workers/heavy.js", "../workers/heavy.js"];

/** Runs jobs in threads with limits; a job that exceeds one fails without affecting anything else. */
export class WorkerPool implements AsyncDisposable {
  readonly #place: HeavyContext;
  readonly #limits: PoolLimits;
  readonly #slots = new HeavySlots();
  /** Idle threads, with the timers that end them. */
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #all = new Set<Worker>();

  constructor(place: HeavyContext, limits: Partial<PoolLimits> = {}) {
    this.#place = place;
    this.#limits = { ...LIMITS, ...limits };
  }

  /** One job at a time for each key. If the caller disconnects, the job is ended. */
  run<Name extends JobName>(name: Name, input: JobInput<Name>, asking: HeavyCaller): Promise<JobOutput<Name>> {
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

  /** The current number of threads. */
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
      // Do not inherit the options of this process.
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: heapMb / 8 },
    });
    // Ignore failures of idle threads; the next job notices that the thread is gone.
    worker.on("error", () => {});
    worker.on("exit", () => this.#forget(worker));
    this.#all.add(worker);
    return worker;
  }

  async #answerOf(worker: Worker, asked: HeavyRequest, signal: AbortSignal): Promise<HeavyResult> {
    const { promise, resolve, reject } = Promise.withResolvers<HeavyResult>();
    const onError = (error: NodeJS.ErrnoException): void =>
      reject(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? this.#tooMuch("memory") : error);
    const onExit = (): void => reject(new Error("The thread ended before it responded."));
    const timer = setTimeout(() => reject(this.#tooMuch("time")), this.#limits.jobMs);
    const takeBack = onAbort(signal, () => reject(signal.reason as Error));
    worker.once("message", resolve).once("error", onError).once("exit", onExit);
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- This is a thread, not a window.
      worker.postMessage(asked);
      return await promise;
    } finally {
      clearTimeout(timer);
      takeBack();
      worker.off("message", resolve).off("error", onError).off("exit", onExit);
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
      `This takes ${limit}, the limit for one request. Narrow it, for example to one session or to a shorter time.`,
      { data: { limit: what } },
    );
  }
}

function errorOf({ code, message, data, retryable }: NonNullable<HeavyResult["failure"]>): Error {
  if (code === undefined) return new Error(message);
  return new CapstanError(code, message, {
    ...(data !== undefined && { data }),
    ...(retryable !== undefined && { retryable }),
  });
}

function entry(): URL {
  const found = PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (found === undefined) throw new Error("The worker program is missing. Reinstall Capstan.");
  return found;
}
