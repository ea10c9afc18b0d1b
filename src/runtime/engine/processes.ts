/** An agent process as the host sees it: it works, or it waits for the next message. */
export interface PooledProcess {
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Ends it; the session's next message starts another. */
  readonly rest: () => void;
}

export interface ProcessCeilings {
  /** Processes that wait for a message; the one that has waited longest goes first. */
  readonly maxIdle: number;
  /** A process that is older, in milliseconds, or holds more memory, in bytes, is ended when it has nothing to do. */
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

interface PoolDeps {
  readonly ceilings: ProcessCeilings;
  readonly now: () => number;
  /** The memory of each process and all it started, in bytes; without those that cannot be measured. */
  readonly memoryOf: (pids: readonly number[]) => ReadonlyMap<number, number>;
}

/** The agent processes of a host. `Admission` counts those at work; this keeps the others few, young and small. */
export class Processes {
  readonly #deps: PoolDeps;
  readonly #all = new Set<PooledProcess>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<PooledProcess>();

  constructor(deps: PoolDeps) {
    this.#deps = deps;
  }

  get count(): number {
    return this.#all.size;
  }

  get idle(): number {
    return this.#idle.size;
  }

  /** The memory of all together, as far as it can be measured. */
  get bytes(): number {
    return this.#memory(this.#all)
      .values()
      .reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Whether a process may be started ahead of its message; one that has waited longer makes room for it. */
  get hasRoomToWarm(): boolean {
    return this.#deps.ceilings.maxIdle > 0;
  }

  works(process: PooledProcess): void {
    this.#all.add(process);
    this.#idle.delete(process);
  }

  waits(process: PooledProcess): void {
    this.#all.add(process);
    this.#idle.delete(process);
    this.#idle.add(process);
    for (const longest of this.#idle) {
      if (this.#idle.size <= this.#deps.ceilings.maxIdle) return;
      this.#end(longest);
    }
  }

  /** Call this now and then: ends processes that have nothing to do and are old, or hold too much memory. */
  recycle(): void {
    const { ceilings, now } = this.#deps;
    const bytes = this.#memory(this.#idle);
    for (const process of this.#idle) {
      const isOld = now() - process.startedAt > ceilings.maxAgeMs;
      if (isOld || (bytes.get(process.pid) ?? 0) > ceilings.maxBytes) this.#end(process);
    }
  }

  remove(process: PooledProcess): void {
    this.#all.delete(process);
    this.#idle.delete(process);
  }

  #end(process: PooledProcess): void {
    this.#idle.delete(process);
    process.rest();
  }

  #memory(processes: ReadonlySet<PooledProcess>): ReadonlyMap<number, number> {
    return processes.size === 0 ? new Map() : this.#deps.memoryOf([...processes].map(({ pid }) => pid));
  }
}

/** Calls `onDue` when a process has had nothing to do for long enough. */
export class RestTimer {
  readonly #afterMs: number;
  readonly #onDue: () => void;
  #timeout: NodeJS.Timeout | undefined;

  constructor(afterMs: number, onDue: () => void) {
    this.#afterMs = afterMs;
    this.#onDue = onDue;
  }

  /** The process has nothing to do. Calling this again does not restart the time. */
  start(): void {
    this.#timeout ??= setTimeout(() => {
      this.#timeout = undefined;
      this.#onDue();
    }, this.#afterMs).unref();
  }

  /** The process is needed, or gone. */
  stop(): void {
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
  }
}
