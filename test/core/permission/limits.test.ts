import { describe, expect, test } from "vitest";
import { environmentDefinition, type EnvironmentInput } from "../../../src/core/environment/environment.ts";
import { outsideLimits, runsConfined } from "../../../src/core/permission/limits.ts";
import { MODES } from "../../../src/core/agent/agent-definition.ts";
import {
  CREDENTIAL_PATHS,
  isHidden,
  type SandboxDirectories,
  type SandboxPlan,
  sandboxPlan,
} from "../../../src/core/environment/sandbox.ts";
import { bash, decideCall, subject } from "./subjects.ts";

/** Of a workspace that is Capstan's own, so that it lies in what is hidden. */
function plan(
  sandbox: EnvironmentInput["sandbox"] = {},
  links: Readonly<Record<string, string>> = {},
  places: Partial<SandboxDirectories> = {},
): SandboxPlan {
  return sandboxPlan(environmentDefinition.parse({ sandbox: { mode: "required", ...sandbox } }).sandbox, {
    cwd: "/nowhere/ws",
    source: "/nowhere/source",
    home: "/nowhere/home",
    capstanHome: "/nowhere",
    stateDir: "/nowhere/sessions/one",
    temporary: "/tmp",
    secretFiles: ["/keys/audit.pem"],
    readOnlyMounts: ["/nowhere/ws/data"],
    variables: { DEPLOY_TOKEN: "t", COLOUR: "red" },
    real: (path) => links[path] ?? path,
    ...places,
  });
}

const read = (path: string) => subject("Read", { file_path: path });
const write = (path: string) => subject("Write", { file_path: path, content: "" });

describe("a plan", () => {
  test("has absolute paths, by the letters alone", () => {
    const { denyRead, allowRead, denyWrite, allowWrite } = plan({
      deny_read: ["~/private/", "./../secrets", "/a/./b/../c"],
      allow_read: ["docs"],
      deny_write: ["/x//y"],
      allow_write: ["~"],
    });
    expect(denyRead).toEqual(expect.arrayContaining(["/nowhere/home/private", "/nowhere/secrets", "/a/c"]));
    expect(allowRead).toEqual(["/nowhere/ws", "/nowhere/sessions/one/home", "/nowhere/source/docs"]);
    expect(denyWrite).toEqual(["/x/y", "/nowhere/ws/data"]);
    expect(allowWrite).toEqual(["/nowhere/ws", "/nowhere/home"]);
  });

  test("always hides Capstan's home, temporary files, the keys of the host and the credentials of the person", () => {
    const { denyRead } = plan();
    expect(denyRead).toEqual(expect.arrayContaining(["/nowhere", "/tmp", "/keys/audit.pem"]));
    for (const path of CREDENTIAL_PATHS) expect(denyRead).toContain(`/nowhere/home/${path}`);
  });

  test.each([".claude.json", ".config/gh/hosts.yml", ".azure/x", ".cargo/credentials.toml", ".pgpass", ".vault-token"])(
    "hides ~/%s",
    (path) => expect(isHidden(`/person/${path}`, plan({}, {}, { home: "/person" }))).toBe(true),
  );

  test("hides what everybody's temporary files are in, also when the host has others", () => {
    const elsewhere = plan({}, {}, { temporary: "/elsewhere", sharedTemporary: "/tmp" });
    for (const path of ["/tmp/x", "/elsewhere/x"]) expect(isHidden(path, elsewhere)).toBe(true);
    // The session's own files are in one of them, so that no rule can speak of all.
    expect(elsewhere.partlyHidden).toEqual(["/nowhere", "/elsewhere", "/tmp"]);
  });

  test("lets nobody write to the repository of a worktree, and everybody to one of the workspace's own", () => {
    const gitDirectories = ["/repository/.git", "/repository/.git/worktrees/ws"];
    expect(plan({}, {}, { gitDirectories }).denyWrite).toEqual(["/nowhere/ws/data", ...gitDirectories]);
    expect(plan({}, {}, { gitDirectories: ["/nowhere/ws/.git"] }).denyWrite).toEqual(["/nowhere/ws/data"]);
    expect(plan({ mode: "off" }, {}, { gitDirectories }).denyWrite).toEqual(["/nowhere/ws/data"]);
  });

  test("knows a path also by where its links lead", () => {
    const { denyRead } = plan({ deny_read: ["/link"] }, { "/link": "/target" });
    expect(denyRead).toEqual(expect.arrayContaining(["/link", "/target"]));
  });

  test("hides variables that look secret, and those that are named", () => {
    expect(plan({ hide_variables: ["LICENCE"] }).hiddenVariables).toEqual(["DEPLOY_TOKEN", "LICENCE"]);
  });

  test("takes the name of a program for every use of it", () => {
    expect(plan({ excluded_commands: ["docker", "git push *"] }).excludedCommands).toEqual(["docker:*", "git push *"]);
  });

  test.each(["https://example.com", "*", "*.com", "example.com:443", "exa mple.com", ""])(
    "refuses %j as a domain",
    (text) => {
      expect(() => plan({ network: { allow: [text === "" ? " " : text] } })).toThrow(/is not a domain/);
    },
  );
});

describe("file tools", () => {
  test.each([
    ["a file of the workspace", "a.txt", undefined],
    ["the agent's own home", "/nowhere/sessions/one/home/x", undefined],
    ["what is not hidden", "/etc/hosts", undefined],
    ["the store", "/nowhere/capstan.db", "sandbox:read"],
    ["another session", "/nowhere/sessions/two/home/x", "sandbox:read"],
    ["the settings of its own engine", "/nowhere/sessions/one/config/x", "sandbox:read"],
    ["an ssh key", "~/.ssh/id", "sandbox:read"],
    ["a key of the host", "/keys/audit.pem", "sandbox:read"],
    ["what begins with the same letters", "/keys/audit.pem.txt", undefined],
    ["a process", "/proc/self/environ", "sandbox:read"],
    ["what is hidden within the workspace", "secret/key", "sandbox:read"],
    ["an exception within that", "secret/public/key", undefined],
  ])("read %s", (_what, path, decidedBy) => {
    const limits = plan({ deny_read: ["/nowhere/ws/secret"], allow_read: ["/nowhere/ws/secret/public"] });
    expect(outsideLimits(read(path), limits)?.decidedBy).toBe(decidedBy);
  });

  test.each([
    ["a file of the workspace", "a.txt", undefined],
    ["what may be written besides", "/data/out/a", undefined],
    ["what must not be within that", "/data/out/kept/a", "sandbox:write"],
    ["a read-only mount", "data/a", "sandbox:write"],
    ["anything else", "/etc/hosts", "sandbox:write"],
    ["up and over", "../x", "sandbox:write"],
    ["what is hidden", "secret/a", "sandbox:write"],
    ["a hook", ".git/hooks/pre-commit", "sandbox:write"],
    ["a hook in other letters", "sub/.GIT/config", "sandbox:write"],
    ["settings of an editor", ".vscode/tasks.json", "sandbox:write"],
    ["what a shell reads", ".bashrc", "sandbox:write"],
    ["a name like that", ".bashrc.txt", undefined],
  ])("write %s", (_what, path, decidedBy) => {
    const limits = plan({
      allow_write: ["/data/out"],
      deny_write: ["/data/out/kept"],
      deny_read: ["/nowhere/ws/secret"],
    });
    expect(outsideLimits(write(path), limits)?.decidedBy).toBe(decidedBy);
    expect(outsideLimits(subject("NotebookEdit", { notebook_path: path }), limits)?.decidedBy).toBe(decidedBy);
  });

  test("search above what is hidden only when it can be left out", () => {
    const limits = plan({ deny_read: ["/nowhere/ws/secret"] });
    const search = (path: string) => outsideLimits(subject("Grep", { pattern: "x", path }), limits)?.decidedBy;
    expect(search("/nowhere/ws")).toBeUndefined();
    expect(search("/nowhere/ws/secret")).toBe("sandbox:read");
    expect(search("/nowhere")).toBe("sandbox:read");
    expect(search("/")).toBe("sandbox:read");
    // Nothing in it is an exception of the settings, but the engine's own files are there.
    expect(search("/tmp/..")).toBe("sandbox:read");
    expect(outsideLimits(subject("Glob", { pattern: "/nowhere/**" }), limits)?.decidedBy).toBe("sandbox:read");
  });

  test("read no file of the workspace that holds a secret by its name, but one that is shown", () => {
    const limits = plan({ allow_read: ["/nowhere/ws/shown/.env", "/nowhere/ws/open"] });
    for (const path of [".env", "deep/er/.env.local", "open/.env", "server.key"]) {
      expect(outsideLimits(read(path), limits)?.reason, path).toContain("may contain credentials");
      expect(outsideLimits(write(path), limits)?.decidedBy, path).toBe("sandbox:write");
    }
    for (const path of ["shown/.env", ".env.example", "src/env.ts"])
      expect(outsideLimits(read(path), limits), path).toBeUndefined();
    expect(outsideLimits(read(".env"), plan({ mode: "off" }))).toBeUndefined();
  });

  test("read what the engine has put aside for them", () => {
    const result = read("/nowhere/sessions/one/config/projects/a/result.txt");
    expect(outsideLimits(result, plan())).toBeDefined();
    expect(outsideLimits(result, plan(), ["/nowhere/sessions/one/config/projects"])).toBeUndefined();
  });

  test("keep what was named to them also without a sandbox, and nothing else", () => {
    const limits = plan({ mode: "off", deny_read: ["/private"], deny_write: ["/kept"] });
    expect(outsideLimits(read("/private/a"), limits)?.decidedBy).toBe("sandbox:read");
    expect(outsideLimits(write("/kept/a"), limits)?.decidedBy).toBe("sandbox:write");
    expect(outsideLimits(write("/nowhere/ws/data/a"), limits)?.decidedBy).toBe("sandbox:write");
    for (const path of ["~/.ssh/id", "/nowhere/capstan.db", "/proc/self/environ"])
      expect(outsideLimits(read(path), limits)).toBeUndefined();
    expect(outsideLimits(write("/etc/hosts"), limits)).toBeUndefined();
    expect(outsideLimits(subject("WebFetch", { url: "https://example.com" }), limits)).toBeUndefined();
  });

  test("are told what to change", () => {
    expect(outsideLimits(read("~/.ssh/id"), plan())?.reason).toContain("allow_read");
    expect(outsideLimits(write("/etc/hosts"), plan())?.reason).toContain("allow_write");
    expect(outsideLimits(subject("WebFetch", { url: "https://example.com" }), plan())?.reason).toContain(
      "network.allow",
    );
  });
});

describe("WebFetch", () => {
  test.each([
    ["https://example.com/a", undefined],
    ["https://EXAMPLE.com./a", undefined],
    ["https://api.example.org", undefined],
    ["https://example.org", "sandbox:network"],
    ["https://notexample.com", "sandbox:network"],
    ["https://example.com.evil.net", "sandbox:network"],
    ["https://example.com@evil.net", "sandbox:network"],
    ["http://127.0.0.1:1/", "sandbox:network"],
    ["no address", "sandbox:network"],
  ])("of %s", (url, decidedBy) => {
    const limits = plan({ network: { allow: ["Example.com", "*.example.org"] } });
    expect(outsideLimits(subject("WebFetch", { url }), limits)?.decidedBy).toBe(decidedBy);
  });
});

describe("limits", () => {
  test.each(MODES)("hold in %s mode, against rules and grants", (mode) => {
    const query = { limits: plan() };
    const allowed = { mode, allow: ["Edit", "Write"], grants: ["Write"], query };
    expect(decideCall(write("/etc/hosts"), allowed)).toMatchObject({ behavior: "deny", decidedBy: "sandbox:write" });
  });

  test("come after a deny rule, and leave the rest to the other steps", () => {
    const query = { limits: plan() };
    expect(decideCall(write("/etc/hosts"), { deny: ["Write"], query }).decidedBy).toBe("rule:deny Write");
    expect(decideCall(write("a"), { query }).decidedBy).toBe("default:ask");
    expect(decideCall(bash("rm -rf /"), { query }).decidedBy).toBe("default:ask");
  });
});

describe("a command runs in the sandbox", () => {
  const docker = { excluded_commands: ["docker"] };
  test.each([
    ["as it is", "npm test", {}, {}, true],
    ["when it is not understood", "eval $X", {}, {}, true],
    ["unless there is none", "npm test", {}, { mode: "off" as const }, false],
    ["unless it asks to leave it", "npm test", { dangerouslyDisableSandbox: true }, {}, false],
    ["also when it says that it does not", "npm test", { dangerouslyDisableSandbox: false }, {}, true],
    ["unless it asks in a strange way", "npm test", { dangerouslyDisableSandbox: "yes" }, {}, false],
    ["unless it is excluded", "docker ps", {}, docker, false],
    ["unless part of it is", "true && /usr/bin/docker ps | cat", {}, docker, false],
    ["unless part of it might be", "$TOOL ps", {}, docker, false],
    ["unless it could be, and is not understood", "eval $X", {}, docker, false],
    ["when another is excluded", "npm test", {}, docker, true],
  ])("%s", (_when, command, input, sandbox, confined) => {
    expect(runsConfined(bash(command), { command, ...input }, plan(sandbox))).toBe(confined);
  });
});
