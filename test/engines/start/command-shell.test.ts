import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, statSync } from "node:fs";
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

test("no value stands on a command line, and nobody else may read the files", () => {
  using directory = temporaryDirectory();
  const { script, shell } = write(directory.path, { variables: { COLOUR: "blue" } });
  expect(script).not.toContain("blue");
  expect(statSync(shell).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory.path, "shown", "variables.sh")).mode & 0o777).toBe(0o600);
});

test.each([
  ["ANTHROPIC_BASE_URL", "past the gateway"],
  ["CLAUDE_CODE_USE_BEDROCK", "past the gateway"],
  ["https_proxy", "past the gateway"],
  ["NODE_OPTIONS", "past the gateway"],
  ["UID", "by the shell itself"],
  ["CAPSTAN_SESSION", "by Capstan itself"],
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
