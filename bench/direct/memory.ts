import { spawn } from "node:child_process";
import { once } from "node:events";
import { firstLine } from "../serve-process.ts";
import { type BenchCase, countRow } from "../row.ts";
import type { MemoryFigures } from "./memory-host.ts";

const name = "direct-memory";

/** The memory that open sessions of the in-process engine use, in a separate host with nothing else in memory. */
export const directMemory: BenchCase = {
  name,
  async run() {
    const child = spawn(process.execPath, ["--expose-gc", "bench/direct/memory-host.ts"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const figures = await firstLine<MemoryFigures>(child);
    if (child.exitCode === null) await once(child, "exit");
    const { sessions, active, kilobytesEach, shellKilobytesEach, megabytes, outOfOrder } = figures;
    return [
      countRow({ name, what: `kB for each of ${sessions} open sessions`, count: kilobytesEach }, 1_500),
      countRow({ name, what: "kB for each session that has run a command", count: shellKilobytesEach }, 6_000),
      countRow({ name, what: `MB, ${sessions} open sessions, ${active} of them in a turn`, count: megabytes }, 600),
      countRow({ name, what: `of ${active} turns with an event out of order`, count: outOfOrder }, 0),
    ];
  },
};
