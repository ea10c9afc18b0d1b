import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { sandboxTest } from "../../support/hostile-world.ts";
import { PATIENT, testShell, type TestShell } from "./test-shell.ts";

/** Each would change what later commands run, whatever rules have seen of them. */
const ATTACKS: Readonly<Record<string, string>> = {
  PATH: "/evil:$PATH",
  LD_PRELOAD: "/evil.so",
  BASH_ENV: "./evil.sh",
  ENV: "./evil.sh",
  PROMPT_COMMAND: "./evil.sh",
  PS4: "$(./evil.sh)",
  GIT_SSH_COMMAND: "./evil.sh",
  NODE_OPTIONS: "--require=./evil.js",
  PYTHONPATH: "./evil",
  HOME: "/evil",
  CDPATH: "/",
  GLOBIGNORE: "*",
  TMPDIR: "/evil",
  CAPSTAN_SESSION: "",
  ANTHROPIC_BASE_URL: "http://evil",
};

async function environment({ run }: TestShell): Promise<Record<string, string>> {
  const { text } = await run("env -0 | tr '\\0\\n' '\\n '");
  return Object.fromEntries(text.split("\n").map((line) => [line.replace(/=.*/s, ""), line.replace(/^[^=]*=/, "")]));
}

test("no variable reaches the next command, and the result names each that was set", async () => {
  const shell = await testShell();
  const before = await environment(shell);
  const { text } = await shell.run(
    [...Object.entries(ATTACKS).map(([name, value]) => `export ${name}='${value}'`), "export FINE=1"].join("\n"),
  );
  const named = /^Not kept for later commands: (.*)\. Set it in the command that needs it\.$/m.exec(text)?.[1] ?? "";
  expect(new Set(named.split(", "))).toEqual(new Set([...Object.keys(ATTACKS), "FINE"]));
  expect(await environment(shell)).toEqual(before);
});

test("exported functions and options do not reach the next command", async () => {
  const { run, at } = await testShell();
  const { text } = await run("pwd() { touch evil; }; export -f pwd; export SHELLOPTS; set -f; alias ls='touch evil'");
  expect(text).toMatch(/Not kept for later commands: .*\bpwd\b/);
  expect((await run("pwd; shopt -o noglob")).text).toMatch(`${at("ws")}\nnoglob         \toff`);
  expect(existsSync(at("ws/evil"))).toBe(false);
});

test("what a command writes in the place of its state is read as data", async () => {
  const { run, at } = await testShell();
  const forged = String.raw`printf 'LD_PRELOAD=/evil\0PWD=/etc\0A;touch evil=1\0B\nC=2\0=3\0D=$(touch evil)\0E=\047;touch evil\0' >&197; exec true`;
  expect((await run(forged)).text).toContain(`Shell cwd was reset to ${at("ws")}`);
  expect((await run('pwd; echo "[$LD_PRELOAD$D$E]"; ls')).text).toBe(`${at("ws")}\n[]`);
});

test("two commands cannot spell a path that one may not name", async () => {
  const shell = await testShell();
  const { run, at, bash, again } = shell;
  const before = await environment(shell);
  const spelled = 'echo "[$D$E]"';
  expect((await run(`export D=.cap E=stan; ${spelled}`)).text).toMatch(/^\[\.capstan\]\nNot kept /);
  expect((await run(spelled)).text).toBe("[]");
  await run(String.raw`mkdir deep; printf 'D=.cap\0E=stan\0PWD=%s\0' "$PWD/deep" >&197; exec true`);
  // The directory was taken over, so the forged state was read.
  expect((await run(`pwd; ${spelled}`)).text).toBe(`${at("ws/deep")}\n[]`);
  await bash.close();
  const kept = { directory: at("ws/deep"), variables: { D: ".cap", E: "stan" }, env: { D: ".cap", E: "stan" } };
  writeFileSync(at("capstan/state/shell/state.json"), JSON.stringify({ primary: kept }));
  expect(await environment(await again())).toEqual({ ...before, PWD: at("ws/deep") });
});

test("`cd -` in a fresh command fails, and leads nowhere", async () => {
  const { run, at, tool } = await testShell();
  mkdirSync(at("ws/deep"));
  for (const start of ["ws", "ws/deep"]) {
    await run(`cd ${at(start)}`);
    const { text } = await run("cd - && echo moved; cd ~- && echo moved; pwd");
    expect(text).toMatch(new RegExp(`^${at(start)}\n.*OLDPWD not set`));
    expect(text).not.toContain("moved");
    expect(tool("Bash").directoryOf?.(undefined) ?? at("ws")).toBe(at(start));
    expect(await run("cd -")).toMatchObject({ isError: true });
  }
});

test.each(["home", "ws/.capstan"])("a directory that was replaced by a link to %s is refused", async (target) => {
  const { run, at, tool } = await testShell();
  mkdirSync(at(target), { recursive: true });
  const replace = (): void => {
    renameSync(at("ws/deep"), at("ws/moved"));
    symlinkSync(at(target), at("ws/deep"));
  };
  await run("mkdir deep; cd deep");
  const directory = tool("Bash").directoryOf?.(undefined);
  expect(directory).toBe(at("ws/deep"));
  replace();
  expect(await run("touch never", { call: { directory } })).toMatchObject({
    isError: true,
    text: `The working directory ${at("ws/deep")} no longer exists. Commands start in ${at("ws")} again.`,
  });
  await run("rm deep; mv moved deep; cd deep");
  // The host has looked at the directory when the call returns its promise; bash has not started.
  const ran = run("touch never", { call: { directory } });
  replace();
  expect(await ran).toMatchObject({ isError: true, text: expect.stringMatching(/^Exit code 1\b/) as string });
  for (const place of [target, "ws", "ws/moved"]) expect(existsSync(at(place, "never"))).toBe(false);
});

test("a state that floods is not kept", async () => {
  const { run, at } = await testShell();
  await run("mkdir -p deep/er; cd deep");
  const { text } = await run("cd er; head -c 10000000 /dev/zero >&197");
  expect(text).toContain("The shell ended without saving its state");
  expect((await run("pwd")).text).toBe(at("ws/deep"));
  const value = "x".repeat(110_000);
  const larger = await run(`export A=${value} B=${value} C=${value}; cd er`);
  expect(larger.text).toContain("The shell ended without saving its state");
  expect((await run('pwd; echo "[$A]"')).text).toBe(`${at("ws/deep")}\n[]`);
  const large = await run(`export LARGE=${value}; cd er`);
  expect(large.text).toBe("Not kept for later commands: LARGE. Set it in the command that needs it.");
  expect((await run('pwd; echo "[$LARGE]"')).text).toBe(`${at("ws/deep/er")}\n[]`);
});

test("a state file that was changed by someone else gives no more than a directory in the workspace", async () => {
  const first = await testShell();
  const { at, bash, again } = first;
  const before = await environment(first);
  await bash.close();
  const file = at("capstan/state/shell/state.json");
  mkdirSync(dirname(file), { recursive: true });
  const variables = {
    ...ATTACKS,
    "X; touch evil": "1",
    "BASH_FUNC_env%%": "() { touch evil; }",
    FINE: "'; touch evil; '",
  };
  writeFileSync(file, JSON.stringify({ primary: { directory: "/etc", variables } }));
  const second = await again();
  expect(second.tool("Bash").directoryOf?.(undefined)).toBeUndefined();
  expect(await environment(second)).toEqual(before);
  expect(existsSync(at("ws/evil"))).toBe(false);
  for (const broken of ["{", "[]", '{"primary":{"directory":1}}', '{"primary":null}']) {
    writeFileSync(file, broken);
    expect(await environment(await again())).toEqual(before);
  }
});

test("the programs around a command get none of its variables, and no command line shows one", async () => {
  const { run, bash, at } = await testShell({ variables: { LD_PRELOAD: "/nowhere.so", SECRET: "in-no-list" } });
  await run("touch up; exec sleep 1000 2>/dev/null", { input: { run_in_background: true } });
  await expect.poll(() => existsSync(at("ws/up")), PATIENT).toBe(true);
  const [pid = 0] = bash.pids();
  expect(readFileSync(`/proc/${pid}/environ`, "utf8")).toBe("");
  expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("in-no-list");
  expect((await run('echo "$LD_PRELOAD $SECRET"')).text).toContain("/nowhere.so in-no-list");
});

sandboxTest("nothing that a confined command has set reaches one that is excluded from the sandbox", async () => {
  const { run } = await testShell({
    sandbox: { excluded_commands: ["printenv"] },
    variables: { API_TOKEN: "for-outside", COLOUR: "blue" },
  });
  expect((await run('export EVIL=1 COLOUR=red; printenv EVIL COLOUR API_TOKEN; echo "$COLOUR"')).text).toMatch(
    /^1\nred\nred\nNot kept for later commands: /,
  );
  expect((await run('printenv EVIL COLOUR API_TOKEN; echo "$COLOUR"')).text).toBe("blue\nblue");
  expect((await run("printenv COLOUR API_TOKEN")).text).toBe("blue\nfor-outside");
  expect((await run("printenv EVIL")).text).toBe("Exit code 1");
  expect((await run("printenv API_TOKEN && ls")).isError).toBe(true);
  expect((await run("cat /proc/self/environ | tr '\\0' '\\n'; ls")).text).not.toContain("for-outside");
});
