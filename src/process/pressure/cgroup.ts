import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The control groups of this process, its own first and then its parents, each of which may have a limit. All are below
 * `root`, which only tests set. Empty if the system has no control groups.
 */
export interface Cgroups {
  /** Version 2, which has one tree for everything. */
  readonly unified: readonly string[];
  /** Version 1. */
  readonly memory: readonly string[];
  readonly cpu: readonly string[];
}

export function findCgroups(root = "/"): Cgroups {
  const mount = join(root, "sys/fs/cgroup");
  const lines = readTextOrEmpty(join(root, "proc/self/cgroup")).split("\n");
  const pathOf = (controller: string): string | undefined =>
    lines
      .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
      .find((found) => found?.[1]?.split(",").includes(controller))?.[2];
  const isUnified = existsSync(join(mount, "cgroup.controllers"));
  return {
    unified: chainOf(isUnified ? mount : join(mount, "unified"), pathOf("")),
    memory: chainOf(join(mount, "memory"), pathOf("memory")),
    cpu: chainOf(join(mount, "cpu"), pathOf("cpu")),
  };
}

function chainOf(mount: string, path: string | undefined): readonly string[] {
  if (path === undefined) return [];
  return withParents(path)
    .map((part) => join(mount, part))
    .filter((directory) => existsSync(directory));
}

/** `/a/b` → `/a/b`, `/a`, `/`. A container may not see the directories of its path; the last always exists. */
function withParents(path: string): readonly string[] {
  const parts = path.split("/").filter((part) => part !== "" && part !== "..");
  return Array.from({ length: parts.length + 1 }, (_, up) => `/${parts.slice(0, parts.length - up).join("/")}`);
}

export interface MemoryRoom {
  /** Bytes: the limit for this process and its neighbors. */
  readonly total: number;
  /** Bytes, including memory that the system can reclaim. */
  readonly free: number;
}

/** What the machine and each control group leave to this process; undefined without /proc. */
export function memoryRoom(cgroups: Cgroups, root = "/"): MemoryRoom | undefined {
  const machine = readTextOrEmpty(join(root, "proc/meminfo"));
  const kibibytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(machine)?.[1]) * 1024;
  const rooms = [
    { total: kibibytes("MemTotal"), free: kibibytes("MemAvailable") },
    ...cgroups.unified.map((path) => limitedRoom(path, UNIFIED)),
    ...cgroups.memory.map((path) => limitedRoom(path, SEPARATE)),
  ].filter(({ total, free }) => Number.isFinite(total) && Number.isFinite(free));
  if (rooms.length === 0) return undefined;
  return { total: Math.min(...rooms.map(({ total }) => total)), free: Math.min(...rooms.map(({ free }) => free)) };
}

const UNIFIED = { limit: "memory.max", used: "memory.current", cache: "inactive_file" };
const SEPARATE = { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cache: "total_inactive_file" };

/** Not a number if the group has no limit: version 2 says `max`, version 1 a number beyond any machine. */
function limitedRoom(path: string, names: typeof UNIFIED): MemoryRoom {
  const total = numberIn(join(path, names.limit));
  if (!(total < Number.MAX_SAFE_INTEGER)) return { total: Number.NaN, free: Number.NaN };
  const cache = numberOf(readTextOrEmpty(join(path, "memory.stat")), names.cache) ?? 0;
  return { total, free: Math.max(0, total - Math.max(0, numberIn(join(path, names.used)) - cache)) };
}

/** How often a group has used up its processor quota since it was created. */
export interface Throttling {
  readonly periods: number;
  readonly throttled: number;
}

/** Undefined if there is no quota. */
export function throttling(cgroups: Cgroups): Throttling | undefined {
  for (const path of [...cgroups.unified, ...cgroups.cpu]) {
    const stat = readTextOrEmpty(join(path, "cpu.stat"));
    const [periods, throttled] = [numberOf(stat, "nr_periods"), numberOf(stat, "nr_throttled")];
    if (periods !== undefined && throttled !== undefined && periods > 0) return { periods, throttled };
  }
  return undefined;
}

function numberIn(file: string): number {
  const text = readTextOrEmpty(file).trim();
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** A value in a file with a name and a number per line. */
function numberOf(text: string, name: string): number | undefined {
  const found = new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Empty if it does not exist, or this process can't read it. */
export function readTextOrEmpty(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
