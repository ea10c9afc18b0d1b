import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessLimits } from "../core/environment/environment.ts";
import { CapstanError, messageOf } from "../core/errors.ts";

/** What all processes of a session use together. */
export interface ProcessUse {
  readonly memory_bytes: number;
  readonly processes: number;
  readonly cpu_seconds: number;
}

const LOOK_EVERY_MS = 500;
/** Of the clock that /proc counts processor time with; the same on all of Linux. */
const TICKS_PER_SECOND = 100;

/** Processor time by ledger, as this host last knew it: the disk may be full, or the ledger gone. */
export type SpentSeconds = Map<string, number>;

/**
 * Looks at the processes of a session again and again, and tells once when they use more than they may. It is a
 * watchdog and no wall: what is used between two looks is not seen.
 */
export class Watchdog {
  readonly #limits: ProcessLimits;
  readonly #ledger: string;
  /** Processor time of earlier processes of the session. */
  readonly #before: number;
  readonly #spent: SpentSeconds;
  #written: number;
  #timer: NodeJS.Timeout | undefined;

  /** Throws when the limit is of processor time, and nobody knows how much was spent. */
  constructor({
    limits,
    stateDir,
    spent = new Map(),
  }: {
    readonly limits: ProcessLimits;
    readonly stateDir: string;
    readonly spent?: SpentSeconds;
  }) {
    this.#limits = limits;
    this.#spent = spent;
    this.#ledger = join(stateDir, "cpu-seconds");
    this.#before = limits.cpu_seconds === undefined ? 0 : readSeconds(this.#ledger, spent.get(this.#ledger));
    this.#written = this.#before;
  }

  /** Throws when nothing is left for another process. */
  requireRoom(): void {
    const over = exceeded(this.#limits, { memory_bytes: 0, processes: 0, cpu_seconds: this.#before });
    if (over !== undefined) throw over;
  }

  /** `root` is the process that all others come from; without one, a function that says what all of them use. */
  watch(root: number | (() => ProcessUse), onOver: (error: CapstanError) => void): void {
    if (Object.keys(this.#limits).length === 0) return;
    this.#timer = setInterval(() => {
      const use = lookAt(typeof root === "number" ? () => useOf(root) : root);
      if (use === undefined) return;
      const cpu = this.#before + use.cpu_seconds;
      this.#keep(cpu);
      const over = exceeded(this.#limits, { ...use, cpu_seconds: cpu });
      if (over === undefined) return;
      this.stop();
      onOver(over);
    }, LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The session's next process goes on from there. */
  #keep(seconds: number): void {
    if (this.#limits.cpu_seconds === undefined || seconds <= this.#written) return;
    this.#spent.set(this.#ledger, seconds);
    try {
      // Aside first: half a number would be another one.
      writeFileSync(`${this.#ledger}.new`, String(seconds), { mode: 0o600 });
      renameSync(`${this.#ledger}.new`, this.#ledger);
      this.#written = seconds;
    } catch {
      // The next look tries again. Meanwhile the limit holds by what this host remembers.
    }
  }
}

/** Undefined when it cannot be seen, such as without a free descriptor: the next look will tell. */
function lookAt(look: () => ProcessUse): ProcessUse | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function readSeconds(file: string, known: number | undefined): number {
  try {
    const text = readFileSync(file, "utf8").trim();
    if (/^\d+(\.\d+)?$/.test(text)) return Math.max(Number(text), known ?? 0);
    return known ?? unknownSpending(file, "it has no number in it");
  } catch (thrown) {
    if (known !== undefined) return known;
    if (thrown instanceof CapstanError) throw thrown;
    // Nothing was spent before the first process.
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return 0;
    return unknownSpending(file, messageOf(thrown));
  }
}

function unknownSpending(file: string, why: string): never {
  throw new CapstanError(
    "engine_failed",
    `How much processor time this session has used cannot be read from ${file}: ${why}. Write the number of seconds into it, or remove it to begin at 0.`,
    { data: { file } },
  );
}

/** The first limit that is passed, as the error that ends the process. */
export function exceeded(limits: ProcessLimits, use: ProcessUse): CapstanError | undefined {
  for (const which of ["memory_bytes", "processes", "cpu_seconds"] as const) {
    const limit = limits[which];
    const spent = use[which];
    if (limit === undefined || spent <= limit) continue;
    return new CapstanError(
      "limit_reached",
      `The processes of this session used more than environment.limits.${which} allows: ${Number(spent.toFixed(2))} of ${limit}. They were ended.`,
      { data: { which, limit, spent } },
    );
  }
  return undefined;
}

/** What a process and everything that came from it use. Orphans are its children again, as it is contained. */
export function useOf(root: number): ProcessUse {
  return familyReader()(root);
}

/** The same for any number of processes, at the price of one look at the process table. */
export function familyReader(): (root: number) => ProcessUse {
  const table = new Map<number, Stat>();
  for (const name of readdirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
    if (stat !== undefined) table.set(stat.pid, stat);
  }
  const children = Map.groupBy(table.values(), ({ parent }) => parent);
  return (root) => {
    const first = table.get(root);
    const all = first === undefined ? [] : [first];
    for (const stat of all) all.push(...(children.get(stat.pid) ?? []));
    return {
      processes: all.length,
      memory_bytes: all.reduce((sum, { pid }) => sum + ownMemory(pid), 0),
      cpu_seconds: all.reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND,
    };
  };
}

/** The same for programs that may end and be started again: the processor time of those that are gone still counts. */
export class ProgramUses {
  /** Of each process that was ever seen, as it was seen last. */
  readonly #seconds = new Map<number, number>();

  of(roots: readonly number[]): ProcessUse {
    if (roots.length === 0) return this.#sum([]);
    const read = familyReader();
    return this.#sum(
      roots.map((root) => {
        const use = read(root);
        this.#seconds.set(root, Math.max(use.cpu_seconds, this.#seconds.get(root) ?? 0));
        return use;
      }),
    );
  }

  #sum(all: readonly ProcessUse[]): ProcessUse {
    return {
      memory_bytes: all.reduce((sum, one) => sum + one.memory_bytes, 0),
      processes: all.reduce((sum, one) => sum + one.processes, 0),
      cpu_seconds: this.#seconds.values().reduce((sum, seconds) => sum + seconds, 0),
    };
  }
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** Of itself, and of its children that have ended. */
  readonly ticks: number;
}

function readStat(pid: number): Stat | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  // The program's name stands in parentheses, and may have spaces and parentheses of its own.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, parent] = fields;
  if (parent === undefined) return undefined;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(parent), ticks };
}

/** Without what it shares with others: programs, libraries and mapped files. */
function ownMemory(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Empty when the process has ended meanwhile. */
function readProc(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
