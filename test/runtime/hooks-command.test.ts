import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { hookCommands } from "../../src/app/host/hook-command.ts";
import type { HookCommand } from "../../src/core/agent/hooks-schema.ts";
import type { HookCommandEnd, CommandSurroundings } from "../../src/core/ports/hooks.ts";
import { temporaryDirectory } from "../support/host.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";
let marks = 0;
/** A number of seconds that no other process of this machine sleeps for. */
const mark = (): string => `${process.pid}${(marks += 1)}.5`;

/** Processes that have the mark among their words. */
function findMarked(text: string, program?: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      return words.includes(text) && (program === undefined || words[0] === program);
    } catch {
      return false;
    }
  });
}

async function until(done: () => boolean): Promise<void> {
  while (!done()) await sleep(10);
}

describe.each<{ how: string; wrapper?: readonly string[] }>([
  { how: "as this machine contains it" },
  { how: "where nothing contains it", wrapper: [] },
])("a command, $how,", ({ wrapper }) => {
  const run = hookCommands({ path: PATH, ...(wrapper && { wrapper }) });
  async function inDirectory(command: HookCommand, more: Partial<CommandSurroundings> = {}): Promise<HookCommandEnd> {
    using directory = temporaryDirectory();
    const cwd = join(directory.path, "work");
    mkdirSync(cwd);
    const { signal } = new AbortController();
    return await run(command, {
      stdin: "{}",
      cwd,
      stateDir: join(directory.path, "state"),
      signal,
      ...more,
    });
  }

  test("reads the facts and answers", async () => {
    const end = await inDirectory(["cat"], { stdin: '{"hook":"before_tool"}' });
    expect(end).toEqual({ exitCode: 0, stdout: '{"hook":"before_tool"}', stderr: "" });
  });

  test("need not read the facts", async () => {
    const end = await inDirectory("exec < /dev/null; echo {}", { stdin: JSON.stringify("x".repeat(1_000_000)) });
    expect(end).toMatchObject({ exitCode: 0, stdout: "{}\n" });
  });

  test("ends with its own exit code and its last words", async () => {
    expect(await inDirectory("echo no >&2; exit 2")).toEqual({ exitCode: 2, stdout: "", stderr: "no\n" });
  });

  test("sees the session's directories, and no variable of the host or of a project", async () => {
    const { stdout } = await inDirectory("pwd; env");
    const [where, ...lines] = stdout.trim().split("\n");
    const names = lines.map((line) => line.split("=")[0] ?? "");
    expect(where).toMatch(/\/work$/);
    expect(lines).toContain(`PATH=${PATH}`);
    expect(lines.find((line) => line.startsWith("HOME="))).toMatch(/\/state\/home$/);
    // The shell itself adds the last ones.
    const known = ["PATH", "LANG", "HOME", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"];
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });

  test("that does not exist is no denial", async () => {
    const end = inDirectory(["no-such-program"]);
    // A wrapper can only tell by its exit code.
    const exitCode = await end.then(
      (ended) => ended.exitCode,
      () => "not started",
    );
    expect([0, 2]).not.toContain(exitCode);
  });

  test("is not started in a directory that is gone", async () => {
    await expect(inDirectory("true", { cwd: "/no/such/directory" })).rejects.toThrow();
  });

  test("is killed with everything it started when nobody waits any more", async () => {
    const seconds = mark();
    const stop = new AbortController();
    const ended = inDirectory(`sleep ${seconds} & setsid sleep ${seconds} & sleep ${seconds}`, { signal: stop.signal });
    // Not before each has become what it is to be: until then setsid has not left the group.
    await until(() => findMarked(seconds, "sleep").length >= 3);
    stop.abort();
    if (wrapper === undefined) {
      await ended;
      await until(() => findMarked(seconds).length === 0);
      return;
    }
    // What left the group is out of reach where nothing contains it; this test ends it.
    await until(() => findMarked(seconds).length === 1);
    for (const pid of findMarked(seconds)) process.kill(Number(pid), "SIGKILL");
    await ended;
  });

  test("leaves nothing behind when it is done", async () => {
    const seconds = mark();
    const end = await inDirectory(`sleep ${seconds} & echo {}`);
    expect(end).toMatchObject({ exitCode: 0, stdout: "{}\n" });
    await until(() => findMarked(seconds).length === 0);
  });

  test("that prints without end is stopped", async () => {
    const seconds = mark();
    await expect(inDirectory(["sh", "-c", "yes", seconds])).rejects.toThrow(/printed more than/);
    await until(() => findMarked(seconds).length === 0);
  });
});
