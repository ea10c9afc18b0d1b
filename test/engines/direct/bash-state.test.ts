import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { sandboxTest } from "../../support/hostile-world.ts";
import { PATIENT, testShell, type TestShell } from "./shell-place.ts";

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

test("variables that change what runs do not reach the next command, and the model is told", async () => {
  const shell = await testShell();
  const before = await environment(shell);
  const { text } = await shell.run(
    [...Object.entries(ATTACKS).map(([name, value]) => `export ${name}='${value}'`), "export FINE=1"].join("\n"),
  );
  expect(text).toMatch(/^Not kept for later commands: /m);
  for (const name of Object.keys(ATTACKS)) expect(text).toMatch(new RegExp(`\\b${name}\\b`));
  expect(await environment(shell)).toEqual({ ...before, FINE: "1" });
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
  expect((await run('pwd; echo "$LD_PRELOAD$D$E"; ls')).text).toBe(`${at("ws")}\n$(touch evil)';touch evil`);
});

test("a state that floods is not kept", async () => {
  const { run } = await testShell();
  await run("export SMALL=1");
  const { text } = await run("export SMALL=2; head -c 10000000 /dev/zero >&197");
  expect(text).toContain("The shell ended without saving its state");
  expect((await run("echo $SMALL")).text).toBe("1");
  const large = await run(`export LARGE=${"x".repeat(110_000)}`);
  expect(large.text).toContain("changes to them were not kept");
  expect((await run('echo "[$LARGE]"')).text).toBe("[]");
});

test("a state file that was changed by someone else gives no more than a command could", async () => {
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
  expect(await environment(second)).toEqual({ ...before, FINE: "'; touch evil; '" });
  expect(existsSync(at("ws/evil"))).toBe(false);
  for (const broken of ["{", "[]", '{"primary":{"variables":{"A":1}}}', '{"primary":null}']) {
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
  await run("mkdir deep; export EVIL=1 COLOUR=red");
  expect((await run('printenv EVIL COLOUR API_TOKEN; echo "$COLOUR"')).text).toBe("1\nred\nred");
  expect((await run("printenv COLOUR API_TOKEN")).text).toBe("blue\nfor-outside");
  expect((await run("printenv EVIL")).text).toBe("Exit code 1");
  expect((await run("printenv API_TOKEN && ls")).isError).toBe(true);
  expect((await run("cat /proc/self/environ | tr '\\0' '\\n'; ls")).text).not.toContain("for-outside");
});
