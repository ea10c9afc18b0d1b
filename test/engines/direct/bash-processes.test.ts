import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Watchdog } from "../../../src/process/limits.ts";
import { PATIENT, testShell, type TestShell } from "./test-shell.ts";

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

let marks = 0;
const newMark = (): string => `${200_000 + process.pid}.${(marks += 1)}`;
/** Children that outlive their shell in every way there is. */
const tree = (mark: string): string =>
  `sleep ${mark} & setsid sleep ${mark} & env -i setsid nohup sleep ${mark} >/dev/null 2>&1 & (trap '' TERM HUP; sleep ${mark} &) ; echo up`;

test("what a command left behind runs on, and ends with the session", async () => {
  const mark = newMark();
  const { run, bash } = await testShell();
  expect((await run(tree(mark))).text).toBe("up");
  expect((await run("echo next")).text).toBe("next");
  await expect.poll(() => bearing(mark).length, PATIENT).toBe(4);
  await bash.close();
  await expect.poll(() => bearing(mark), PATIENT).toEqual([]);
});

test("kill ends everything at once, and a command that runs says so", async () => {
  const mark = newMark();
  const { run, bash } = await testShell();
  const ran = run(`${tree(mark)}; sleep ${mark}`);
  await expect.poll(() => bearing(mark).length, PATIENT).toBe(5);
  bash.kill();
  expect(await ran).toMatchObject({ isError: true, text: expect.stringContaining("was killed") as string });
  await expect.poll(() => bearing(mark), PATIENT).toEqual([]);
  expect(await run("echo late")).toMatchObject({ isError: true });
});

test("a timeout ends children in groups and sessions of their own", async () => {
  const mark = newMark();
  const { run } = await testShell();
  const turn = new AbortController();
  const ran = run(`${tree(mark)}; sleep ${mark}`, { call: { signal: turn.signal } });
  await expect.poll(() => bearing(mark).length, PATIENT).toBe(5);
  turn.abort();
  await ran;
  await expect.poll(() => bearing(mark), PATIENT).toEqual([]);
});

/** A host in a process of its own, with the result of its one command. */
async function hostThatRan(at: TestShell["at"], command: string): Promise<{ host: ChildProcess; said: string }> {
  const script = join(import.meta.dirname, "shell-host.ts");
  const host = spawn(process.execPath, [script, at("ws"), at("capstan/state"), command], {
    env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void host.kill("SIGKILL"));
  const [said] = (await once(host.stdout, "data")) as [Buffer];
  return { host, said: said.toString() };
}

test("a command that puts a directory in the place of its script does not end the host", async () => {
  const { at } = await testShell();
  const { host, said } = await hostThatRan(
    at,
    `script=\${BASH_EXECUTION_STRING#*; . \\'}; script=\${script%%\\'*}
     rm "$script" && mkdir -p "$script/full" && echo "in $script"`,
  );
  const script = /"in ([^"]*\.sh)"/.exec(said)?.[1] ?? "";
  expect(script).toContain(at("capstan/state/shell"));
  await expect.poll(() => host.exitCode !== null || !existsSync(script), PATIENT).toBe(true);
  expect({ exitCode: host.exitCode, isLeft: existsSync(script) }).toEqual({ exitCode: null, isLeft: false });
});

test("everything ends when the host is killed", async () => {
  const mark = newMark();
  const { at } = await testShell();
  const { host, said } = await hostThatRan(at, tree(mark));
  expect(said).toContain('"up"');
  await expect.poll(() => bearing(mark).length, PATIENT).toBe(4);
  host.kill("SIGKILL");
  await expect.poll(() => bearing(mark), PATIENT).toEqual([]);
});

test("a session without a command, and one whose commands are over, has no process", async () => {
  const { run, bash } = await testShell();
  expect(bash.pids()).toEqual([]);
  await run("true");
  await expect.poll(() => bash.pids(), PATIENT).toEqual([]);
});

test("limits count what runs and what is over", async () => {
  const { run, bash, at } = await testShell();
  await run("for ((i = 0; i < 300000; i++)); do :; done");
  await expect.poll(() => bash.pids(), PATIENT).toEqual([]);
  expect(bash.use()).toMatchObject({ processes: 0, memory_bytes: 0 });
  expect(bash.use().cpu_seconds).toBeGreaterThan(0.05);
  const watchdog = new Watchdog({ limits: { processes: 3 }, stateDir: at("capstan/state") });
  const over = new Promise<string>((resolve) => {
    watchdog.watch(
      () => bash.use(),
      (error) => {
        bash.kill();
        resolve(error.message);
      },
    );
  });
  const ran = run("sleep 1000 & sleep 1000 & sleep 1000");
  expect(await over).toContain("environment.limits.processes");
  expect(await ran).toMatchObject({ isError: true });
});

test("a command that is stopped right after its start does not run on", async () => {
  const { run, bash } = await testShell();
  const sleeps = Array.from({ length: 20 }, newMark);
  // At every moment of a start, which takes a few milliseconds.
  for (const [index, mark] of sleeps.entries()) {
    const turn = new AbortController();
    const ran = run(`sleep ${mark}`, { call: { signal: turn.signal } });
    await expect.poll(() => bash.pids().length, { ...PATIENT, interval: 1 }).toBe(1);
    await delay(index / 4);
    turn.abort();
    expect(await ran).toMatchObject({ isError: true });
  }
  for (const mark of sleeps) expect(bearing(mark)).toEqual([]);
});
