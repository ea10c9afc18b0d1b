import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CapstanError } from "../../src/core/errors.ts";
import { exceededLimit, type SpentSeconds, useOf, Watchdog } from "../../src/process/limits.ts";
import { temporaryDirectory } from "../support/host.ts";
import { until } from "../support/until.ts";

/** A shell that runs something until it is told to stop. */
function running(script: string): Disposable & { readonly pid: number } {
  const child = spawn("sh", ["-c", script], { stdio: "ignore", detached: true });
  const pid = child.pid ?? 0;
  return { pid, [Symbol.dispose]: () => void process.kill(-pid, "SIGKILL") };
}

describe("what the processes of a session use", () => {
  test("is counted over all that came from the first one", async () => {
    using shell = running("sleep 1000 & (sleep 1000 & wait) & wait");
    const use = await until(
      () => useOf(shell.pid),
      ({ processes }) => processes === 4,
    );
    expect(use.memory_bytes).toBeGreaterThan(0);
    expect(use.memory_bytes).toBeLessThan(100_000_000);
  });

  test("includes the processor time of children that have ended", async () => {
    using shell = running("sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; sleep 1000");
    const use = await until(
      () => useOf(shell.pid),
      ({ cpu_seconds: seconds }) => seconds > 0.05,
    );
    expect(use.processes).toBe(2);
  });

  test("is nothing when the process is gone", async () => {
    const child = spawn("true");
    await once(child, "exit");
    expect(useOf(child.pid ?? 0)).toEqual({ processes: 0, memory_bytes: 0, cpu_seconds: 0 });
  });
});

describe("a limit", () => {
  const use = { memory_bytes: 100, processes: 10, cpu_seconds: 5 };
  test.each([
    [{}, undefined],
    [{ memory_bytes: 100, processes: 10, cpu_seconds: 5 }, undefined],
    [{ memory_bytes: 99 }, { which: "memory_bytes", limit: 99, spent: 100 }],
    [{ processes: 9 }, { which: "processes", limit: 9, spent: 10 }],
    [{ cpu_seconds: 4.5 }, { which: "cpu_seconds", limit: 4.5, spent: 5 }],
  ])("of %o", (limits, data) => {
    const error = exceededLimit(limits, use);
    expect(error?.data).toEqual(data);
    if (error !== undefined)
      expect(error).toMatchObject({ code: "limit_reached", message: expect.stringContaining("environment.limits") });
  });
});

describe("the watchdog", () => {
  test("tells once when a limit is passed", async () => {
    using directory = temporaryDirectory();
    using shell = running("sleep 1000 & sleep 1000 & wait");
    const told = Promise.withResolvers<CapstanError>();
    new Watchdog({ limits: { processes: 2 }, stateDir: directory.path }).watch(shell.pid, told.resolve);
    expect((await told.promise).data).toMatchObject({ which: "processes", limit: 2, spent: 3 });
  });

  test("goes on counting processor time where an earlier process of the session ended", async () => {
    using directory = temporaryDirectory();
    using shell = running("while :; do :; done");
    const first = new Watchdog({ limits: { cpu_seconds: 1000 }, stateDir: directory.path });
    first.watch(shell.pid, () => {});
    const kept = join(directory.path, "cpu-seconds");
    writeFileSync(kept, "0");
    const seconds = await until(
      () => Number(readFileSync(kept, "utf8")),
      (spent) => spent > 0,
    );
    first.stop();
    const next = new Watchdog({ limits: { cpu_seconds: seconds / 2 }, stateDir: directory.path });
    expect(() => next.requireRoom()).toThrow(CapstanError);
    new Watchdog({ limits: { cpu_seconds: 1000 }, stateDir: directory.path }).requireRoom();
  });

  test("lives on where nothing can be written, and remembers what was spent", async () => {
    using directory = temporaryDirectory();
    using shell = running("while :; do :; done");
    const stateDir = join(directory.path, "state");
    mkdirSync(stateDir);
    const spent: SpentSeconds = new Map();
    const first = new Watchdog({ limits: { cpu_seconds: 1000 }, stateDir, spent });
    rmSync(stateDir, { recursive: true });
    // Vitest fails a run in which a timer throws.
    first.watch(shell.pid, () => {});
    const [seconds = 0] = await until(
      () => [...spent.values()],
      ([known = 0]) => known > 0,
    );
    first.stop();
    const next = new Watchdog({ limits: { cpu_seconds: seconds / 2 }, stateDir, spent });
    expect(() => next.requireRoom()).toThrow(expect.objectContaining({ code: "limit_reached" }));
  });

  test.each(["", "3.5x", "NaN"])("does not begin at 0 again when the ledger says %o", (text) => {
    using directory = temporaryDirectory();
    const ledger = join(directory.path, "cpu-seconds");
    writeFileSync(ledger, text);
    const open = (spent?: SpentSeconds): Watchdog =>
      new Watchdog({ limits: { cpu_seconds: 10 }, stateDir: directory.path, ...(spent && { spent }) });
    expect(() => open()).toThrow(
      expect.objectContaining({
        code: "engine_failed",
        message: expect.stringMatching(/cpu-seconds.*Write the number/),
      }),
    );
    expect(() => open(new Map([[ledger, 11]])).requireRoom()).toThrow(
      expect.objectContaining({ code: "limit_reached" }),
    );
    // Nobody asks for it where there is no such limit.
    new Watchdog({ limits: { processes: 10 }, stateDir: directory.path }).requireRoom();
  });
});
