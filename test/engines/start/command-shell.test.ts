import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { writeCommandShell } from "../../../src/engines/claude/start/command-shell.ts";
import { StartSettings } from "../../../src/engines/claude/start/start-settings.ts";
import { temporaryDirectory } from "../../support/host.ts";

interface Given {
  readonly variables?: Readonly<Record<string, string>>;
  readonly hiddenVariables?: readonly string[];
}

/** What a command prints that the CLI runs with these files, as the CLI does it. `inside`: what is hidden is not there. */
function run(command: string, { inside = false, ...given }: Given & { readonly inside?: boolean } = {}): string {
  using directory = temporaryDirectory();
  const { shell, script } = write(directory.path, given);
  if (inside) rmSync(join(directory.path, "hidden"), { recursive: true });
  // With a socket for its input bash would take itself for a remote shell, and read files of this machine.
  const stdio = ["ignore", "pipe", "pipe"] as const;
  const env = { PATH: "/of/the/cli", ANTHROPIC_AUTH_TOKEN: "token", CLAUDE_ENV_FILE: "x", ANTHROPIC_BASE_URL: "url" };
  const { stdout, stderr } = spawnSync(shell, ["-c", `true && ${script} && ${command}`], {
    env,
    stdio: [...stdio],
    encoding: "utf8",
  });
  return stdout + stderr;
}

function write(directory: string, { variables = {}, hiddenVariables = [] }: Given) {
  const written = writeCommandShell({
    shown: join(directory, "shown"),
    hidden: join(directory, "hidden"),
    bash: "/bin/bash",
    path: "/usr/bin:/bin",
    outputs: join(directory, "outputs"),
    variables,
    hiddenVariables,
  });
  const script = readFileSync(written["CLAUDE_ENV_FILE"] ?? "", "utf8").trim();
  return { shell: written["CLAUDE_CODE_SHELL"] ?? "", script };
}

describe("a command", () => {
  test.each(["plain", 'it\'s $HOME `id` \\ "x"', "two\nlines", ""])("has a variable with the value %j", (value) => {
    expect(run('printf %s "$COLOUR"', { variables: { COLOUR: value } })).toBe(value);
  });

  test("has the search path of commands, or its own", () => {
    expect(run("echo $PATH")).toBe("/usr/bin:/bin\n");
    expect(run("echo $PATH", { variables: { PATH: "/mine" } })).toBe("/mine\n");
  });

  test("has neither the token nor the address of the gateway, not even in /proc", () => {
    expect(run("env; tr '\\0' '\\n' < /proc/$$/environ")).not.toMatch(/ANTHROPIC|CLAUDE_ENV_FILE|token/);
  });

  test("has hidden variables outside the sandbox alone", () => {
    const given = { variables: { DEPLOY_TOKEN: "secret", COLOUR: "blue" }, hiddenVariables: ["DEPLOY_TOKEN"] };
    expect(run("echo $COLOUR $DEPLOY_TOKEN", given)).toBe("blue secret\n");
    expect(run("echo $COLOUR $DEPLOY_TOKEN", { ...given, inside: true })).toBe("blue\n");
  });

  test("runs whatever its variables are", () => {
    expect(run("echo done", { variables: { LD_PRELOAD: "/none.so", BASH_ENV: "/none", IFS: "x" } })).toMatch(/^done$/m);
  });
});

/** As the CLI runs a command: both outputs go to one file. */
function runToFile(command: string, { input = "", writable = true } = {}) {
  using directory = temporaryDirectory();
  const { shell } = write(directory.path, {});
  const outputs = join(directory.path, "outputs");
  if (writable) mkdirSync(outputs);
  const file = openSync(join(directory.path, "output"), "a+");
  const given = join(directory.path, "input");
  writeFileSync(given, input);
  const stdin = openSync(given, "r");
  const { status } = spawnSync(shell, ["-c", command], { env: {}, stdio: [stdin, file, file] });
  for (const opened of [stdin, file]) closeSync(opened);
  const kept = writable ? readdirSync(outputs).map((name) => readFileSync(join(outputs, name), "utf8")) : [];
  return { status, output: readFileSync(join(directory.path, "output"), "utf8"), kept };
}

describe("the output of a command", () => {
  const long = "x".repeat(12_000);
  const print = `printf %s ${long}`;

  test.each([
    ["exit 3", 3],
    ["exit 143", 143],
    ["kill -TERM $$", 143],
    ["kill -9 $$", 137],
    ["exec bash -c 'exit 5'", 5],
    ["trap 'exit 6' EXIT", 6],
  ])("is kept when it ends with %s, which is still its exit code", (end, status) => {
    expect(runToFile(`${print}; ${end}`)).toEqual({ status, output: long, kept: [long] });
  });

  test("is not kept when the command succeeds, or when all of it is shown", () => {
    expect(runToFile(print)).toEqual({ status: 0, output: long, kept: [] });
    expect(runToFile("echo short; exit 1")).toEqual({ status: 1, output: "short\n", kept: [] });
  });

  test("is what it would be without that, also where nothing can be kept", () => {
    const command = "echo out; echo err >&2; cat; cat no-such-file; exit 4";
    const expected = "out\nerr\ninput\ncat: no-such-file: No such file or directory\n";
    for (const writable of [true, false])
      expect(runToFile(command, { input: "input\n", writable })).toEqual({ status: 4, output: expected, kept: [] });
  });

  test("does not wait for what the command leaves behind", () => {
    const { status, output } = runToFile("{ sleep 600 & echo $!; } | { read pid; echo left; kill $pid; exit 2; }");
    expect({ status, output }).toEqual({ status: 2, output: "left\n" });
  });
});

test("no value stands on a command line, and nobody else may read the files", () => {
  using directory = temporaryDirectory();
  const { script, shell } = write(directory.path, { variables: { COLOUR: "blue" } });
  expect(script).not.toContain("blue");
  expect(statSync(shell).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory.path, "shown", "variables.sh")).mode & 0o777).toBe(0o600);
});

test.each([
  ["ANTHROPIC_BASE_URL", "bypass the gateway"],
  ["CLAUDE_CODE_USE_BEDROCK", "bypass the gateway"],
  ["https_proxy", "bypass the gateway"],
  ["NODE_OPTIONS", "bypass the gateway"],
  ["UID", "by the shell"],
  ["CAPSTAN_SESSION", "by Capstan"],
])("the variable %s is refused", (name, why) => {
  using directory = temporaryDirectory();
  expect(() => write(directory.path, { variables: { [name]: "x" } })).toThrow(new RegExp(`variables.${name}.*${why}`));
});

test("the token is in the settings until the process has started, and not after that", () => {
  using directory = temporaryDirectory();
  const gateway = { url: "http://127.0.0.1:1", token: "of this session" };
  const settings = new StartSettings(directory.path, { settings: { disableAllHooks: true }, gateway });
  const read = (): unknown => JSON.parse(readFileSync(settings.file, "utf8"));
  const env = { ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: gateway.token };
  expect(read()).toEqual({ disableAllHooks: true, env });
  expect(statSync(settings.file).mode & 0o777).toBe(0o600);
  settings.forget();
  expect(read()).toEqual({ disableAllHooks: true });
});
