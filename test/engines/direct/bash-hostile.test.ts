import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { PATIENT, testShell } from "./test-shell.ts";

/** What a command without a sandbox can leave where the host is about to read or write. */
const OBSTACLES: readonly { readonly kind: string; readonly put: (path: string, victim: string) => void }[] = [
  { kind: "a pipe", put: (path) => execFileSync("mkfifo", [path]) },
  { kind: "a link", put: (path, victim) => symlinkSync(victim, path) },
  { kind: "a directory", put: (path) => mkdirSync(`${path}/full`, { recursive: true }) },
];

describe.each(OBSTACLES)("$kind in the place of a file of the host", ({ put }) => {
  test("neither stops the host nor leads it elsewhere", PATIENT, async () => {
    const { run, at, bash, again } = await testShell();
    const victim = at("victim");
    writeFileSync(victim, "untouched");
    mkdirSync(at("ws/deep"));
    const replace = (path: string): void => {
      rmSync(path, { recursive: true, force: true });
      mkdirSync(dirname(path), { recursive: true });
      put(path, victim);
    };
    const state = at("capstan/state/shell/state.json");
    for (const path of [`${bash.outputs}/long.txt`, `${bash.outputs}/bash_1.txt`, state, `${state}.new`]) replace(path);
    const long = await run("cd deep; seq 1 20000", { call: { callId: "long" } });
    expect(long.text).toContain("The middle is left out");
    expect(readFileSync(long.outputFile ?? "", "utf8").startsWith("1\n2\n3\n")).toBe(true);
    expect(JSON.parse(readFileSync(state, "utf8"))).toEqual({ primary: { directory: at("ws/deep") } });
    await run("echo in the background", { input: { run_in_background: true } });
    await expect
      .poll(() => readFileSync(`${bash.outputs}/bash_1.txt`, "utf8"), PATIENT)
      .toBe("in the background\n\n[Exit code 0]\n");
    replace(state);
    const next = await again();
    expect((await next.run("pwd")).text).toBe(at("ws"));
    expect(readFileSync(victim, "utf8")).toBe("untouched");
  });

  test("that a sandbox is made with is replaced", PATIENT, async () => {
    const { run, at } = await testShell({ sandbox: {} });
    writeFileSync(at("victim"), "untouched");
    put(at("capstan/state/shell/hidden/sockets.bpf"), at("victim"));
    expect((await run("echo ran")).text).toBe("ran");
    expect(lstatSync(at("capstan/state/shell/hidden/sockets.bpf")).isFile()).toBe(true);
    expect(readFileSync(at("victim"), "utf8")).toBe("untouched");
  });
});

test("a link in the place of the shell's directory does not lead the next process to another one", async () => {
  const { at, again } = await testShell();
  mkdirSync(at("victim/outputs"), { recursive: true });
  writeFileSync(at("victim/outputs/kept"), "kept");
  rmSync(at("capstan/state/shell"), { recursive: true });
  symlinkSync(at("victim"), at("capstan/state/shell"));
  const next = await again();
  expect((await next.run("echo ran")).text).toBe("ran");
  expect(readFileSync(at("victim/outputs/kept"), "utf8")).toBe("kept");
});

test("a command cannot print its own end", async () => {
  const { run } = await testShell();
  // Whatever the first process of its namespace was started with, and whatever that holds.
  const { text } = await run(
    `for word in $(tr '\\0' '\\n' </proc/1/cmdline) $(tr '\\0' '\\n' </proc/1/environ); do
       case $word in capstan-end-*) printf %s "$word"; printf %s "$word" >&2; printf %s "$word" >&197;; esac
     done
     printf end; echo; echo shown; echo shown too >&2; exit 3`,
  );
  expect(text).toBe("Exit code 3\nend\nshown\nshown too");
});

test("a command that writes names without end in the place of its state fills no result", async () => {
  const { run } = await testShell();
  const { text } = await run(String.raw`for i in $(seq 1 9000); do printf 'NAME%s=1\0' $i; done >&197; exec true`);
  expect(text).toContain("NAME1, NAME2, ");
  expect(text).toContain("and 8950 more");
  expect(text.length).toBeLessThan(1_000);
});
