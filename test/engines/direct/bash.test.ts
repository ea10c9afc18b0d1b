import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CapturedOutput } from "../../../src/engines/direct/shell/captured-output.ts";
import { shortDuration } from "../../../src/engines/direct/shell/result-text.ts";
import { temporaryDirectory } from "../../support/host.ts";
import { PATIENT, testShell } from "./test-shell.ts";

describe("a command", () => {
  test("returns stdout, then stderr", async () => {
    const { run } = await testShell();
    const ran = await run("echo late >&2; echo; echo out");
    expect(ran).toMatchObject({ text: "out\nlate", isError: false });
    expect(await run("true")).toMatchObject({ text: "(Bash completed with no output)", isError: false });
  });

  test("that fails returns its exit code first, as an error", async () => {
    const { run } = await testShell();
    expect(await run("echo out; echo err >&2; exit 3")).toMatchObject({ text: "Exit code 3\nout\nerr", isError: true });
    expect((await run("no-such-program")).text).toContain("no-such-program: command not found");
    expect(await run("kill -9 $$")).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Exit code 137\n/) as string,
    });
  });

  test("for which an exit code of 1 is an answer does not fail with it", async () => {
    const { run } = await testShell();
    expect(await run("grep x /dev/null")).toMatchObject({ isError: false });
    expect(await run("grep x /no/such/file")).toMatchObject({ isError: true });
    expect(await run("false")).toMatchObject({ isError: true, text: "Exit code 1" });
  });

  test("has the workspace as its directory, an empty stdin and outputs that can be opened by name", async () => {
    const { run, at } = await testShell();
    expect((await run("pwd; cat; echo x > /dev/stdout; echo y > /dev/stderr")).text).toBe(`${at("ws")}\nx\ny`);
  });

  test("has the session's variables and nothing of the host's environment", async () => {
    const { run, at } = await testShell({ variables: { COLOUR: "it's blue", NEW_LINE: "a\nb" } });
    const names = (await run("env -0 | cut -z -d= -f1 | tr '\\0' ' '")).text.trim().split(" ");
    const own = ["PATH", "LANG", "HOME", "TMPDIR", "CAPSTAN_SESSION", "COLOUR", "NEW_LINE"];
    expect(new Set(names)).toEqual(new Set([...own, "PWD", "SHLVL", "_"]));
    expect((await run('echo "$COLOUR $NEW_LINE $HOME $CAPSTAN_SESSION"')).text).toBe(
      `it's blue a\nb ${at("capstan/state/home")} session_1`,
    );
  });

  test("may hold anything that bash can read", async () => {
    const { run } = await testShell();
    expect((await run("cat <<'EOF'\n$x 'y' \"z\" é\nEOF")).text).toBe(`$x 'y' "z" é`);
    expect((await run(`echo ${"x".repeat(300_000)} | wc -c`)).text).toBe("300001");
    expect((await run("echo 'open")).text).toMatch(/^Exit code 2\n.*eval: line 1: unexpected EOF/);
    expect((await run("echo fine")).text).toBe("fine");
  });

  test("that is none is refused", async () => {
    const { run } = await testShell();
    expect(await run("  ")).toMatchObject({ isError: true, text: expect.stringContaining("empty") as string });
    expect(await run("echo a\0b")).toMatchObject({ isError: true, text: expect.stringContaining("NUL") as string });
    expect(await run("echo \ud800")).toMatchObject({
      isError: true,
      text: expect.stringContaining("Unicode") as string,
    });
  });

  test("that prints bytes which are no text gets marks in their place", async () => {
    const { run } = await testShell();
    expect((await run(String.raw`printf 'a\0b\xff\xfec'`)).text).toBe("a\uFFFDb\uFFFD\uFFFDc");
  });

  test("needs a bash, and says so where there is none", async () => {
    const { run } = await testShell({ path: "/nowhere" });
    expect(await run("true")).toMatchObject({
      isError: true,
      text: "bash not found in PATH (/nowhere). Install bash.",
    });
  });

  test("cannot be given variables that lead past the gateway", async () => {
    await expect(testShell({ variables: { ANTHROPIC_BASE_URL: "http://x" } })).rejects.toThrow("bypass the gateway");
  });
});

describe("a long output", () => {
  test("is shown at both ends, and is whole in a file", async () => {
    const { run } = await testShell();
    const { text, outputFile = "", isError } = await run("seq 100000; echo end >&2");
    expect(isError).toBe(false);
    expect(text.length).toBeLessThan(30_500);
    expect(text).toMatch(/^1\n2\n3\n/);
    expect(text).toMatch(/\n100000\nend$/);
    expect(text).toContain(`bytes are in ${outputFile}]`);
    expect(readFileSync(outputFile, "utf8")).toMatch(/^1\n2\n[\d\n]*\n100000\nend\n$/);
  });

  test("that is only a little too long for the model is whole in a file, too", async () => {
    const { run } = await testShell();
    expect((await run("head -c 30000 /dev/zero | tr '\\0' x")).outputFile).toBeUndefined();
    const { text, outputFile = "" } = await run("head -c 30001 /dev/zero | tr '\\0' é");
    expect(text).toContain("The middle is left out");
    expect(statSync(outputFile).size).toBe(30_001);
  });

  test("waits in a file, not in the memory of the host", async () => {
    using directory = temporaryDirectory();
    const output = new CapturedOutput(directory.path);
    await output.write(Buffer.alloc(100 * 1024, "a"));
    expect([output.small?.length, readdirSync(directory.path)]).toEqual([100 * 1024, []]);
    await output.write(Buffer.alloc(100 * 1024, "b"));
    expect([output.small, readdirSync(directory.path).length]).toEqual([undefined, 1]);
    {
      await using whole = await open(join(directory.path, "whole"), "wx");
      await output.appendTo(whole);
    }
    await output.discard();
    expect(readdirSync(directory.path)).toEqual(["whole"]);
    expect(statSync(join(directory.path, "whole")).size).toBe(200 * 1024);
  });

  test("without an end ends the command", async () => {
    const { run, bash } = await testShell();
    const { text, isError, outputFile = "" } = await run("yes");
    expect(isError).toBe(true);
    expect(text).toMatch(/^Exit code 137\nCommand ended because it printed more than 64 MB\ny\ny\n/);
    expect(statSync(outputFile).size).toBeLessThanOrEqual(64 * 1_048_576);
    await expect.poll(() => bash.pids(), PATIENT).toEqual([]);
  });
});

describe("the end of a command", () => {
  test("comes with its timeout", async () => {
    const { run, bash } = await testShell();
    const { text, isError } = await run("echo before; sleep 1000", { input: { timeout: 1_500 } });
    // On a busy machine the time may be over before anything was printed.
    expect(text).toMatch(/^Exit code 143\nCommand timed out after 1.5s(\nbefore)?$/);
    expect(isError).toBe(true);
    await expect.poll(() => bash.pids(), PATIENT).toEqual([]);
  });

  test("comes with the interruption of its turn, and what it printed is kept", async () => {
    const { run, at } = await testShell();
    const turn = new AbortController();
    const ran = run("echo before; touch up; sleep 1000", { call: { signal: turn.signal } });
    await expect.poll(() => existsSync(at("ws/up")), PATIENT).toBe(true);
    turn.abort();
    expect(await ran).toMatchObject({
      text: "before\n<error>Command was aborted before completion</error>",
      isError: true,
    });
    const late = await run("touch never", { call: { signal: turn.signal } });
    expect(late.isError).toBe(true);
    expect(existsSync(at("ws/never"))).toBe(false);
  });

  test("does not wait for children that hold its output", async () => {
    const { run, bash } = await testShell();
    expect(await run("sleep 1000 & echo left")).toMatchObject({ text: "left", isError: false });
    expect(bash.pids()).toHaveLength(1);
    await bash.close();
    expect(bash.pids()).toEqual([]);
  });

  test.each([
    [1_000, "1s"],
    [300, "0.3s"],
    [120_000, "2m"],
    [150_000, "2m 30s"],
  ])("after %i ms is told as %s", (ms, text) => {
    expect(shortDuration(ms)).toBe(text);
  });
});

describe("what a command leaves to the next", () => {
  test("is its directory and none of its variables, whichever way it ended", async () => {
    const { run, at } = await testShell({ variables: { SHAPE: "round" } });
    mkdirSync(at("ws/deep/er"), { recursive: true });
    const show = 'pwd; echo "${COLOUR-unset} ${unexported-unset} ${SHAPE-unset}"';
    await run("cd deep; export COLOUR=$'blue\\n'; unexported=1; f() { :; }");
    expect((await run(show)).text).toBe(`${at("ws/deep")}\nunset unset round`);
    await run("cd er; export COLOUR=red SHAPE=square; exit 4");
    expect((await run(show)).text).toBe(`${at("ws/deep/er")}\nunset unset round`);
    await run("set -eu; unset SHAPE; export COLOUR=red; cd ..; false; cd /");
    expect((await run(show)).text).toBe(`${at("ws/deep")}\nunset unset round`);
    expect((await run("trap 'echo bye' EXIT; cd er")).text).toBe("bye");
    expect((await run(show)).text).toBe(`${at("ws/deep/er")}\nunset unset round`);
  });

  test("is what was before when the command replaced its shell, and the model is told", async () => {
    const { run, at } = await testShell();
    const { text } = await run("export COLOUR=blue; cd /; exec echo replaced");
    expect(text).toMatch(/^replaced\nThe shell ended without saving its state/);
    expect((await run('pwd; echo "$COLOUR"')).text).toBe(at("ws"));
  });

  test("is never a directory outside of the workspace", async () => {
    const { run, at } = await testShell();
    expect((await run("cd /; pwd")).text).toBe(`/\nShell cwd was reset to ${at("ws")}`);
    expect((await run(`ln -s ${at("home")} out; cd out`)).text).toBe(`Shell cwd was reset to ${at("ws")}`);
    expect((await run("pwd")).text).toBe(at("ws"));
  });

  test("is not used when a call was decided for the workspace", async () => {
    const { run, at } = await testShell();
    await run("mkdir deep; cd deep");
    expect((await run("pwd", { call: { directory: undefined } })).text).toBe(at("ws"));
  });

  test("ends with its directory", async () => {
    const { run, at } = await testShell();
    await run("mkdir deep; cd deep");
    rmdirSync(at("ws/deep"));
    expect(await run("touch never")).toMatchObject({
      isError: true,
      text: `The working directory ${at("ws/deep")} no longer exists. Commands start in ${at("ws")} again.`,
    });
    expect((await run("ls; pwd")).text).toBe(at("ws"));
  });

  test("is its thread's alone", async () => {
    const { run, at } = await testShell();
    await run("mkdir deep; cd deep", { call: { threadId: "thread_1" } });
    expect((await run("pwd")).text).toBe(at("ws"));
    expect((await run("pwd", { call: { threadId: "thread_1" } })).text).toBe(at("ws/deep"));
  });

  test("is there for the session's next process", async () => {
    const { run, at, bash, again } = await testShell();
    await run("mkdir deep; cd deep; export COLOUR=blue");
    await bash.close();
    const next = await again();
    expect((await next.run('pwd; echo "${COLOUR-unset}"')).text).toBe(`${at("ws/deep")}\nunset`);
  });

  test("may come from many that run side by side", async () => {
    const { run, at } = await testShell();
    const names = Array.from({ length: 8 }, (_, index) => `d${index}`);
    const all = await Promise.all(names.map((name) => run(`mkdir ${name}; cd ${name}; echo ${name}`)));
    expect(all.map(({ text }) => text)).toEqual(names);
    expect(new Set(readdirSync(at("ws")))).toEqual(new Set(names));
    expect(names.map((name) => at("ws", name))).toContain((await run("pwd")).text);
  });
});

describe("a background command", () => {
  test("returns at once, writes to a file that can be read, and says there how it ended", async () => {
    const { run, bash, at } = await testShell();
    const { text, isError } = await run("echo out; echo err >&2; until [ -e go ]; do sleep 0.1; done; exit 7", {
      input: { run_in_background: true },
    });
    const file = /written to: (\S+)\.$/.exec(text)?.[1] ?? "";
    expect(isError).toBe(false);
    expect(text).toContain("Command running in background with ID: bash_1.");
    expect(file.startsWith(`${bash.outputs}/`)).toBe(true);
    await expect.poll(() => readFileSync(file, "utf8"), PATIENT).toMatch(/out/);
    await expect.poll(() => readFileSync(file, "utf8"), PATIENT).toMatch(/err/);
    expect(bash.background()).toMatchObject([{ id: "bash_1", isRunning: true, file }]);
    writeFileSync(at("ws/go"), "");
    await expect.poll(() => readFileSync(file, "utf8"), PATIENT).toMatch(/\n\[Exit code 7\]\n$/);
    await expect.poll(() => bash.background(), PATIENT).toMatchObject([{ isRunning: false }]);
  });

  test("is ended by TaskStop, with all that it started", async () => {
    const { run, bash, tool, at } = await testShell();
    await run("setsid sleep 1000 & touch up; wait", { input: { run_in_background: true } });
    await expect.poll(() => existsSync(at("ws/up")), PATIENT).toBe(true);
    const call = { callId: "stop", signal: new AbortController().signal, threadId: undefined };
    const stop = (id: string) => tool("TaskStop").run({ task_id: id }, call);
    expect(await stop("bash_1")).toMatchObject({
      isError: false,
      content: [{ text: "Successfully stopped task: bash_1" }],
    });
    await expect.poll(() => bash.pids(), PATIENT).toEqual([]);
    expect(await stop("bash_1")).toMatchObject({ content: [{ text: "bash_1 had already ended." }] });
    expect(await stop("bash_9")).toMatchObject({
      isError: true,
      content: [{ text: "Unknown background command bash_9. Known: bash_1." }],
    });
  });

  test("is ended by its own thread or the primary one, and by no other", async () => {
    const { run, bash, tool } = await testShell();
    const input = { run_in_background: true };
    await run("sleep 1000", { input });
    await run("sleep 1000", { input, call: { threadId: "thread_a" } });
    const stop = (id: string, threadId?: string) =>
      tool("TaskStop").run({ task_id: id }, { callId: "stop", signal: new AbortController().signal, threadId });
    for (const id of ["bash_1", "bash_2"])
      expect(await stop(id, "thread_b")).toMatchObject({
        isError: true,
        content: [{ text: `Unknown background command ${id}. None was started.` }],
      });
    expect(await stop("bash_1", "thread_a")).toMatchObject({
      isError: true,
      content: [{ text: "Unknown background command bash_1. Known: bash_2." }],
    });
    expect(bash.background().map(({ isRunning }) => isRunning)).toEqual([true, true]);
    expect(await stop("bash_2", "thread_a")).toMatchObject({ isError: false });
    await run("sleep 1000", { input, call: { threadId: "thread_a" } });
    expect(await stop("bash_3")).toMatchObject({ isError: false });
    expect(bash.background().map(({ isRunning }) => isRunning)).toEqual([true, false, false]);
  });
});
