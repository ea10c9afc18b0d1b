import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessLimits } from "../core/environment/environment.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import { readOwnFile, writeOwnFile } from "./own-files.ts";

/** The total use of a session's processes. */
export interface ProcessUse {
  readonly memory_bytes: number;
  readonly processes: number;
  readonly cpu_seconds: number;
}

const LOOK_EVERY_MS = 500;
/** The clock rate of processor time in /proc; the same on all Linux systems. */
const TICKS_PER_SECOND = 100;

/** Processor time by ledger, as this host last knew it: the disk may be full, or the ledger removed. */
export type SpentSeconds = Map<string, number>;

/**
 * Checks the processes of a session repeatedly, and reports once when they exceed a limit. It is a watchdog, not a
 * barrier: it does not see what is used between two checks.
 */
export class Watchdog {
  readonly #limits: ProcessLimits;
  readonly #ledger: string;
  /** Processor time of earlier processes of the session. */
  readonly #before: number;
  readonly #spent: SpentSeconds;
  #written: number;
  #timer: NodeJS.Timeout | undefined;

  /** Throws if processor time is limited and the time spent is unknown. */
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

  /** Throws if nothing is left for another process. */
  requireRoom(): void {
    const over = exceededLimit(this.#limits, { memory_bytes: 0, processes: 0, cpu_seconds: this.#before });
    if (over !== undefined) throw over;
  }

  /** `root` is the root process, or a function that returns the total use. */
  watch(root: number | (() => ProcessUse), onOver: (error: CapstanError) => void): void {
    if (Object.keys(this.#limits).length === 0) return;
    this.#timer = setInterval(() => {
      const use = lookAt(typeof root === "number" ? () => useOf(root) : root);
      if (use === undefined) return;
      const cpu = this.#before + use.cpu_seconds;
      this.#keep(cpu);
      const over = exceededLimit(this.#limits, { ...use, cpu_seconds: cpu });
      if (over === undefined) return;
      this.stop();
      onOver(over);
    }, LOOK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Saves it for the session's next process. */
  #keep(seconds: number): void {
    if (this.#limits.cpu_seconds === undefined || seconds <= this.#written) return;
    this.#spent.set(this.#ledger, seconds);
    try {
      writeOwnFile(this.#ledger, String(seconds));
      this.#written = seconds;
    } catch {
      // The next check tries again. Meanwhile the limit applies to what this host remembers.
    }
  }
}

/** Undefined if it can't be measured, such as without a free descriptor: the next check will. */
function lookAt(look: () => ProcessUse): ProcessUse | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function readSeconds(file: string, known: number | undefined): number {
  try {
    // Nothing was spent before the first process.
    const text = (readOwnFile(file) ?? "0").trim();
    if (/^\d+(\.\d+)?$/.test(text)) return Math.max(Number(text), known ?? 0);
    return known ?? unknownSpending(file, "it contains no number");
  } catch (thrown) {
    if (known !== undefined) return known;
    if (thrown instanceof CapstanError) throw thrown;
    return unknownSpending(file, messageOf(thrown));
  }
}

function unknownSpending(file: string, why: string): never {
  throw new CapstanError(
    "engine_failed",
    `Cannot read this session's processor time from ${file}: ${why}. Write the number of seconds into it, or remove it to start at 0.`,
    { data: { file } },
  );
}

/** The first exceeded limit, as the error that ends the process. */
export function exceededLimit(limits: ProcessLimits, use: ProcessUse): CapstanError | undefined {
  for (const which of ["memory_bytes", "processes", "cpu_seconds"] as const) {
    const limit = limits[which];
    const spent = use[which];
    if (limit === undefined || spent <= limit) continue;
    return new CapstanError(
      "limit_reached",
      `The processes of this session exceeded environment.limits.${which}: ${Number(spent.toFixed(2))} of ${limit}. They were ended.`,
      { data: { which, limit, spent } },
    );
  }
  return undefined;
}

/** The use of a process and all its descendants. Orphans become its children again, because it is contained. */
export function useOf(root: number): ProcessUse {
  return familyReader()(root);
}

/** The same for any number of processes, reading the process table once. */
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

/** The same for programs that may be restarted: the processor time of ended ones still counts. */
export class ProgramUses {
  /** By process, as last measured. */
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
  /** Its own, and that of its ended children. */
  readonly ticks: number;
}

function readStat(pid: number): Stat | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  // The program's name is in parentheses, and may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [, parent] = fields;
  if (parent === undefined) return undefined;
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid, parent: Number(parent), ticks };
}

/** Without memory it shares with others: programs, libraries and mapped files. */
function ownMemory(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

/** Empty if the process has ended. */
function readProc(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
