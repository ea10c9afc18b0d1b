import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import { spawn } from "node:child_process";
import type { SpawnedProcess } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, onTestFinished, test } from "vitest";
import { Leftovers } from "../../src/process/leftovers.ts";
import { findContainment } from "../../src/process/containment.ts";
import { CliProcess, describeLoss } from "../../src/engines/claude/process.ts";
import { temporaryDirectory } from "../support/host.ts";

/** A process of this test's own, in a directory that is gone with it. */
function start(command: string, args: readonly string[], { wrapper, env = {} }: Given = {}): Started {
  const directory = temporaryDirectory();
  const leftovers = new Leftovers(join(directory.path, "state"));
  const process = new CliProcess({ wrapper, leftovers });
  const stop = new AbortController();
  const spawned = process.spawn({
    command,
    args: [...args],
    cwd: directory.path,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", ...env },
    signal: stop.signal,
  });
  onTestFinished(async () => {
    process.kill();
    await process.waitForExit(0);
    leftovers.sweep();
    directory[Symbol.dispose]();
  });
  return { process, spawned, stop, directory: directory.path };
}

interface Given {
  readonly wrapper?: readonly string[] | undefined;
  readonly env?: Record<string, string>;
}

interface Started {
  readonly process: CliProcess;
  readonly spawned: SpawnedProcess;
  readonly stop: AbortController;
  readonly directory: string;
}

/** The processes that bear a mark on their command line. */
function bearing(mark: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(mark);
    } catch {
      return false;
    }
  });
}

/** The machine may be busy; how long something takes is not what is tested. */
const PATIENT = { timeout: 30_000 };

/** A shell that leaves its children every way there is to outlive it. */
const TREE = 'sleep "$0" & setsid sleep "$0" & env -i setsid nohup sleep "$0" >/dev/null 2>&1 & echo up; sleep "$0"';
/** A host in a process of its own that starts the command it is given. */
const HOST = `
  const [command, ...args] = process.argv.slice(1);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  require("node:child_process").spawn(command, args, { env, stdio: ["ignore", "inherit", "inherit"] });`;
let marks = 0;
const newMark = (): string => `${100_000 + process.pid}.${(marks += 1)}`;

async function treeOf(mark: string): Promise<Started> {
  const tree = start("sh", ["-c", TREE, mark], { wrapper: await findContainment() });
  await once(tree.spawned.stdout, "data");
  await expect.poll(() => bearing(mark).length, PATIENT).toBeGreaterThanOrEqual(4);
  return tree;
}

describe("containment", () => {
  test("is found on this machine, and runs the command that follows it", async () => {
    const wrapper = await findContainment();
    expect(wrapper?.slice(0, 4)).toEqual([expect.stringMatching(/^\/.*\/setpriv$/), "--pdeathsig", "KILL", "--"]);
    const { spawned } = start("sh", ["-c", "echo $$"], { wrapper });
    const [text] = (await once(spawned.stdout, "data")) as [Buffer];
    expect(text.toString().trim()).toBe("1");
  });

  test("ends everything a process started when the process is killed", async () => {
    const mark = newMark();
    const tree = await treeOf(mark);
    tree.process.kill();
    await expect.poll(() => bearing(mark), PATIENT).toEqual([]);
  });

  test("ends everything when the SDK kills the process, however politely", async () => {
    const mark = newMark();
    const tree = await treeOf(mark);
    tree.spawned.kill("SIGTERM");
    await expect.poll(() => bearing(mark), PATIENT).toEqual([]);
  });

  test("ends everything when the SDK gives the process up", async () => {
    const mark = newMark();
    const tree = await treeOf(mark);
    tree.stop.abort();
    await expect.poll(() => bearing(mark), PATIENT).toEqual([]);
  });

  test("ends everything when the host is killed", async () => {
    const mark = newMark();
    const tree = [...((await findContainment()) ?? []), "sh", "-c", TREE, mark];
    const host = spawn(process.execPath, ["-e", HOST, ...tree], { env: {}, stdio: ["ignore", "pipe", "inherit"] });
    await once(host.stdout, "data");
    await expect.poll(() => bearing(mark).length, PATIENT).toBeGreaterThanOrEqual(4);
    host.kill("SIGKILL");
    await expect.poll(() => bearing(mark), PATIENT).toEqual([]);
  });
});

describe("a process", () => {
  test("has a pid and is waited for until it is gone", async () => {
    const { process: cli } = start("sh", ["-c", "exit 0"]);
    expect(cli.pid).toBeGreaterThan(0);
    const { pid } = cli;
    await cli.waitForExit(60_000);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    await expect(cli.waitForExit(60_000)).resolves.toBeUndefined();
  });

  test("that does not end by itself is killed after the time it is given", async () => {
    const mark = newMark();
    const { process: cli } = start("sleep", [mark]);
    await cli.waitForExit(10);
    expect(bearing(mark)).toEqual([]);
  });

  test("that cannot be started is not waited for", async () => {
    const { process: cli, spawned } = start("/no/such/command", []);
    await new Promise<void>((resolve) => spawned.once("error", () => resolve()));
    expect(cli.pid).toBe(0);
    await expect(cli.waitForExit(60_000)).resolves.toBeUndefined();
  });

  test("keeps the end of what it says about its troubles", async () => {
    const script = 'head -c 20000 /dev/zero | tr "\\\\0" x >&2; echo; echo "last words" >&2';
    const { process: cli, spawned } = start("sh", ["-c", script]);
    await once(spawned.stdout, "end");
    await expect.poll(() => cli.stderr, PATIENT).toMatch(/x\s*last words$/);
    expect(cli.stderr.length).toBeLessThanOrEqual(8_192);
  });

  test("sees the environment it was given and nothing of the host's", async () => {
    const { spawned } = start("env", [], { env: { COLOUR: "blue" } });
    const [text] = (await once(spawned.stdout, "data")) as [Buffer];
    const names = text
      .toString()
      .trim()
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(new Set(names)).toEqual(new Set(["COLOUR", "PATH"]));
  });

  test("that reads the SDK's copy of a transcript has it noted, so that it is removed", async () => {
    const { directory, process: cli } = start("true", [], { env: { CLAUDE_CONFIG_DIR: "/tmp/claude-resume-none" } });
    await cli.waitForExit(60_000);
    const list = readFileSync(join(directory, "state", "leftovers.json"), "utf8");
    expect(JSON.parse(list)).toEqual(["/tmp/claude-resume-none"]);
  });
});

describe("the loss of a process", () => {
  test("says what happened, its last words and what to do", () => {
    const lost = describeLoss(new Error("exited with code 137"), "a warning\nout of memory");
    expect(lost).toMatchObject({ code: "engine_lost", retryable: true, data: { stderr: "a warning\nout of memory" } });
    expect(lost.message).toMatch(/exited with code 137.*Last output: out of memory.*send a message to continue/);
  });

  test("without a reason or a word is told all the same", () => {
    expect(describeLoss(undefined, "").message).toMatch(/ended unexpectedly \(the process ended\)\. The log is intact/);
  });

  test("of a binary that was never installed says how to install it", () => {
    const lost = describeLoss(new Error("Native CLI binary for linux-x64 not found."), "");
    expect(lost).toMatchObject({
      code: "engine_missing",
      message: expect.stringContaining("--omit=optional") as string,
    });
  });
});
