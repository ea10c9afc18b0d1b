import { describe, expect, test } from "vitest";
import { environmentDefinition, type EnvironmentInput } from "../../src/core/environment/environment.ts";
import { type SandboxPlan, sandboxPlan } from "../../src/core/environment/sandbox.ts";
import { PUBLIC_NAMES, SECRET_NAMES } from "../../src/core/environment/secret-files.ts";
import { sandboxSettings } from "../../src/engines/claude/sandbox.ts";
import { requireSandbox, sandboxFinder } from "../../src/sandbox/support.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { agent } from "../support/host.ts";

function plan(sandbox: EnvironmentInput["sandbox"]): SandboxPlan {
  return sandboxPlan(environmentDefinition.parse({ sandbox }).sandbox, {
    cwd: "/ws",
    source: "/ws",
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
    const { sandbox, permissions } = sandboxSettings(wanted, { confined: true, readable: ["/tmp/own"] });
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
        denyRead: [...wanted.denyRead, ...SECRET_NAMES.map((name) => `/ws/**/${name}`)],
        allowRead: ["/ws", "/capstan/sessions/one/home", "/tmp/own", ...PUBLIC_NAMES.map((name) => `/ws/**/${name}`)],
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
    const { sandbox, permissions } = sandboxSettings(off, { confined: false, readable: ["/tmp/own"] });
    expect(sandbox).toEqual({ enabled: false });
    expect(permissions).toEqual({
      deny: [String.raw`Read(//ws/a\*b)`, String.raw`Read(//ws/a\*b/**)`, "Edit(//kept)", "Edit(//kept/**)"],
    });
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
