import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasCapacity } from "../../../src/app/host/capacity.ts";
import { capacityOf } from "../../../src/core/environment/server-schema.ts";
import { findCgroups, memoryRoom } from "../../../src/process/pressure/cgroup.ts";
import { watchLoop } from "../../../src/process/pressure/loop-delay.ts";
import { stallReader } from "../../../src/process/pressure/stalls.ts";
import { temporaryDirectory } from "../../support/host.ts";
import { until } from "../../support/until.ts";

const GIBIBYTE = 1_073_741_824;
const MEMINFO = "MemTotal:       16777216 kB\nMemFree:         100 kB\nMemAvailable:    8388608 kB\n";

/** The files of a machine, as the kernel shows them. */
function machine(files: Readonly<Record<string, string>>): Disposable & { readonly root: string } {
  const directory = temporaryDirectory();
  const write = (name: string, text: string): void => {
    const path = join(directory.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  for (const [name, text] of Object.entries({ "proc/meminfo": MEMINFO, ...files })) write(name, text);
  return { root: directory.path, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

const UNIFIED = {
  "proc/self/cgroup": "0::/app/capstan\n",
  "sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
  "sys/fs/cgroup/app/cgroup.type": "domain\n",
  "sys/fs/cgroup/app/memory.max": String(2 * GIBIBYTE),
  "sys/fs/cgroup/app/memory.current": String(GIBIBYTE),
  "sys/fs/cgroup/app/memory.stat": `anon 1\ninactive_file ${GIBIBYTE / 2}\n`,
  "sys/fs/cgroup/app/capstan/cgroup.type": "domain\n",
  "sys/fs/cgroup/app/capstan/memory.max": "max\n",
};
const pressure = (share: number): string =>
  `some avg10=${share.toFixed(2)} avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1\n`;

describe("memory", () => {
  test("is what the tightest control group leaves, and files that can be dropped count as free", () => {
    using here = machine(UNIFIED);
    expect(memoryRoom(findCgroups(here.root), here.root)).toEqual({ total: 2 * GIBIBYTE, free: 1.5 * GIBIBYTE });
  });

  test("is read from version 1 as well, whose numbers without a limit count as none", () => {
    using here = machine({
      "proc/self/cgroup": "4:memory:/docker/abc\n1:cpu,cpuacct:/\n0::/\n",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": String(GIBIBYTE),
      "sys/fs/cgroup/memory/docker/abc/memory.usage_in_bytes": String(GIBIBYTE / 2),
      "sys/fs/cgroup/memory/docker/abc/memory.stat": "total_inactive_file 0\n",
    });
    expect(memoryRoom(findCgroups(here.root), here.root)).toEqual({ total: GIBIBYTE, free: GIBIBYTE / 2 });
  });

  test("is the machine's without a limit, and unknown without /proc", () => {
    using here = machine({});
    expect(memoryRoom(findCgroups(here.root), here.root)).toEqual({ total: 16 * GIBIBYTE, free: 8 * GIBIBYTE });
    using nowhere = temporaryDirectory();
    expect(memoryRoom(findCgroups(nowhere.path), nowhere.path)).toBeUndefined();
  });
});

describe("waiting", () => {
  test("for a processor counts in the host's own control group", () => {
    using here = machine({
      ...UNIFIED,
      "sys/fs/cgroup/app/capstan/cpu.pressure": pressure(12.5),
      "sys/fs/cgroup/app/capstan/memory.pressure": pressure(3),
      "proc/pressure/cpu": pressure(99),
      "proc/pressure/memory": pressure(50),
    });
    expect(stallReader(findCgroups(here.root), here.root)()).toEqual({ cpu: 12.5, memory: 3 });
  });

  test("of the whole machine counts for memory only: a busy machine keeps no turn from beginning", () => {
    using here = machine({
      "proc/self/cgroup": "0::/\n",
      "proc/loadavg": "180.00 180.00 180.00 90/1000 1\n",
      "sys/fs/cgroup/cgroup.controllers": "cpu memory\n",
      "sys/fs/cgroup/cpu.pressure": pressure(99),
      "proc/pressure/cpu": pressure(99),
      "proc/pressure/memory": pressure(40),
    });
    expect(stallReader(findCgroups(here.root), here.root)()).toEqual({ cpu: 0, memory: 40 });
  });

  test("is the share of periods in which a quota was used up, since the last look", () => {
    const stat = "sys/fs/cgroup/app/capstan/cpu.stat";
    using here = machine({ ...UNIFIED, [stat]: "nr_periods 100\nnr_throttled 90\n" });
    const read = stallReader(findCgroups(here.root), here.root);
    writeFileSync(join(here.root, stat), "nr_periods 200\nnr_throttled 115\n");
    expect(read().cpu).toBe(25);
    // Nothing has happened since.
    expect(read().cpu).toBe(25);
  });
});

test("a host takes on another turn only while it is within every limit", () => {
  const capacity = capacityOf({}, 8 * GIBIBYTE);
  const calm = { free: GIBIBYTE, loopDelay: 5, stalls: { cpu: 10, memory: 0 }, heldBytes: () => GIBIBYTE };
  expect(hasCapacity(capacity, calm)).toBe(true);
  for (const worse of [
    { free: 1 },
    { loopDelay: 501 },
    { stalls: { cpu: 91, memory: 0 } },
    { stalls: { cpu: 0, memory: 21 } },
    { heldBytes: () => 7 * GIBIBYTE },
  ])
    expect(hasCapacity(capacity, { ...calm, ...worse }), JSON.stringify(worse)).toBe(false);
});

test("work that keeps the loop from turning shows as its delay", async () => {
  const delay = watchLoop(100);
  expect(delay()).toBe(0);
  await until(
    async () => {
      const end = performance.now() + 150;
      while (performance.now() < end);
      return delay();
    },
    (late) => late > 100,
  );
});
