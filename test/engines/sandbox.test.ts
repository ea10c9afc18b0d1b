import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environmentDefinition, type EnvironmentInput } from "../../src/core/environment.ts";
import { type SandboxPlan, sandboxPlan } from "../../src/core/sandbox.ts";
import { confinedCommand } from "../../src/engines/claude/mcp-sandbox.ts";
import { sandboxSettings } from "../../src/engines/claude/sandbox.ts";
import { Stubs } from "../../src/engines/claude/sandbox-stubs.ts";
import { requireSandbox, sandboxFinder } from "../../src/engines/claude/sandbox-support.ts";
import { parseAgent } from "../../src/core/agent-definition.ts";
import { agent, temporaryDirectory } from "../support/host.ts";

function plan(sandbox: EnvironmentInput["sandbox"], cwd = "/ws"): SandboxPlan {
  return sandboxPlan(environmentDefinition.parse({ sandbox }).sandbox, {
    cwd,
    source: cwd,
    home: "/person",
    capstanHome: "/capstan",
    stateDir: "/capstan/sessions/one",
    temporary: "/tmp",
    readOnlyMounts: [],
    secretFiles: ["/elsewhere/audit.key"],
    variables: { DEPLOY_TOKEN: "t" },
    real: (path) => path,
  });
}

describe("the settings of the CLI", () => {
  test("say everything, also what is the default", () => {
    const wanted = plan({
      mode: "required",
      network: { allow: ["example.com"] },
      deny_write: ["/ws/kept"],
      allow_write: ["/out"],
      hide_variables: ["LICENCE"],
      excluded_commands: ["docker"],
    });
    const { sandbox, permissions } = sandboxSettings(wanted, { confined: true, tempDir: "/tmp/own" });
    expect(sandbox).toEqual({
      enabled: true,
      failIfUnavailable: true,
      autoAllowBashIfSandboxed: false,
      allowUnsandboxedCommands: false,
      excludedCommands: ["docker:*"],
      ignoreViolations: {},
      enableWeakerNestedSandbox: false,
      enableWeakerNetworkIsolation: false,
      allowNestedUserNamespaces: false,
      allowAppleEvents: false,
      network: {
        allowedDomains: ["example.com"],
        deniedDomains: [],
        strictAllowlist: true,
        allowUnixSockets: [],
        allowAllUnixSockets: false,
        allowLocalBinding: false,
        allowMachLookup: [],
      },
      filesystem: {
        disabled: false,
        allowWrite: ["/ws", "/out"],
        denyWrite: ["/ws/kept"],
        denyRead: wanted.denyRead,
        allowRead: ["/ws", "/capstan/sessions/one/home", "/tmp/own"],
      },
      credentials: {
        files: [],
        envVars: ["ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_MESSAGING_TOKEN", "DEPLOY_TOKEN", "LICENCE"].map((name) => ({
          name,
          mode: "deny",
        })),
        allowPlaintextInject: false,
      },
    });
    expect(permissions).toMatchObject({
      blockWritesOutsideWorkingDirectories: true,
      additionalDirectories: ["/out"],
      deny: expect.arrayContaining(["Read(//person/.ssh/**)", "Edit(//ws/kept)", "Edit(//ws/kept/**)"]),
    });
    // They have exceptions, which a rule cannot have.
    for (const rule of ["Read(//capstan/**)", "Read(//tmp/**)"]) expect(permissions?.deny).not.toContain(rule);
  });

  test("switch the sandbox off by name, and keep the limits of file tools", () => {
    const off = plan({ deny_read: ["/ws/a*b"], deny_write: ["/kept"] });
    const { sandbox, permissions } = sandboxSettings(off, { confined: false, tempDir: "/tmp/own" });
    expect(sandbox).toEqual({ enabled: false });
    expect(permissions).toEqual({
      deny: [String.raw`Read(//ws/a\*b)`, String.raw`Read(//ws/a\*b/**)`, "Edit(//kept)", "Edit(//kept/**)"],
    });
  });
});

describe("the sandbox of a server", () => {
  test("mounts from the root downwards: what lies deeper counts, and what is not there is left out", () => {
    using directory = temporaryDirectory();
    const at = (...names: string[]): string => join(directory.path, ...names);
    for (const name of ["hidden/ws/secret", "hidden/other", "own"]) mkdirSync(at(name), { recursive: true });
    writeFileSync(at("hidden/ws/key"), "");
    symlinkSync(at("hidden/ws/secret"), at("link"));
    const given: SandboxPlan = {
      ...plan({ mode: "required" }, at("hidden/ws")),
      denyRead: [at("hidden"), at("hidden/ws/key"), at("link"), at("missing")],
      allowRead: [at("hidden/ws")],
      denyWrite: [],
    };
    const command = confinedCommand(given, { confine: ["bwrap"], ownDirectory: at("own") });
    expect(command.slice(command.indexOf("/run") + 1)).toEqual(
      [
        ["--bind", at("own"), at("own")],
        ["--tmpfs", at("hidden")],
        ["--bind", at("hidden/ws"), at("hidden/ws")],
        ["--ro-bind", "/dev/null", at("hidden/ws/key")],
        ["--tmpfs", at("hidden/ws/secret")],
        ["--chdir", at("hidden/ws"), "--"],
      ].flat(),
    );
    expect(command.slice(0, 2)).toEqual(["bwrap", "--unshare-net"]);
  });
});

describe("a machine without bubblewrap", () => {
  const support = sandboxFinder("/nowhere");
  const who = { agent: parseAgent(agent()) };

  test("is refused where the sandbox is required, with what to install", () => {
    expect(() => requireSandbox({ ...who, sandbox: plan({ mode: "required" }) }, support)).toThrow(
      expect.objectContaining({ code: "sandbox_missing", message: expect.stringMatching(/bwrap.*socat.*apt-get/s) }),
    );
  });

  test("will do where it is only preferred, or off", () => {
    for (const mode of ["preferred", "off"] as const)
      expect(() => requireSandbox({ ...who, sandbox: plan({ mode }) }, support)).not.toThrow();
  });
});

test("sockets cannot be allowed on Linux, and that is said by name", () => {
  const sandbox = plan({ mode: "required", unix_sockets: ["/run/docker.sock"] });
  expect(() => requireSandbox({ agent: parseAgent(agent()), sandbox }, () => ({}))).toThrow(
    expect.objectContaining({ code: "unsupported", message: expect.stringContaining("/run/docker.sock") }),
  );
});

describe("what the CLI's sandbox leaves in a workspace", () => {
  test("is removed when it was not there before and is empty, and nothing else is", () => {
    using directory = temporaryDirectory();
    const [cwd, stateDir, home] = ["ws", "state", "home"].map((name) => {
      const path = join(directory.path, name);
      mkdirSync(path);
      return path;
    }) as [string, string, string];
    writeFileSync(join(cwd, ".bashrc"), "");
    new Stubs({ cwd, stateDir }).expect(home);
    // Git is told to overlook what is to come, and not what was there.
    const ignored = readFileSync(join(home, ".config", "git", "ignore"), "utf8").split("\n");
    expect(ignored).toContain("/.zshrc");
    expect(ignored).not.toContain("/.bashrc");
    mkdirSync(join(cwd, ".claude", ".cc-writes"), { recursive: true });
    for (const name of [".zshrc", ".vscode", ".claude/agents", "empty.txt"]) writeFileSync(join(cwd, name), "");
    writeFileSync(join(cwd, ".profile"), "somebody's");
    // By the next process, after a kill.
    new Stubs({ cwd, stateDir }).sweep();
    for (const name of [".zshrc", ".vscode", ".claude"]) expect(existsSync(join(cwd, name))).toBe(false);
    for (const name of [".bashrc", ".profile", "empty.txt"]) expect(existsSync(join(cwd, name))).toBe(true);
  });
});
