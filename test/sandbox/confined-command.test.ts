import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, realpathSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { environmentDefinition, type EnvironmentInput } from "../../src/core/environment/environment.ts";
import { type SandboxPlan, sandboxPlan } from "../../src/core/environment/sandbox.ts";
import { confinedCommand, coverOf } from "../../src/sandbox/confined-command.ts";
import { sandboxFinder } from "../../src/sandbox/support.ts";
import { temporaryDirectory } from "../support/host.ts";
import { sandboxTest } from "../support/hostile-world.ts";

/** Directories of a test, with everything that is absent in the workspace but for what it names. */
function place(directories: readonly string[]): Disposable & { at: (...names: string[]) => string } {
  const directory = temporaryDirectory();
  const path = realpathSync(directory.path);
  const at = (...names: string[]): string => join(path, ...names);
  for (const name of ["ws", "own", "home", "capstan/state/home", ...directories])
    mkdirSync(at(name), { recursive: true });
  return { at, [Symbol.dispose]: () => directory[Symbol.dispose]() };
}

function plan(at: (...names: string[]) => string, sandbox: EnvironmentInput["sandbox"] = {}): SandboxPlan {
  return sandboxPlan(environmentDefinition.parse({ sandbox: { mode: "required", ...sandbox } }).sandbox, {
    cwd: at("ws"),
    source: at("ws"),
    home: at("home"),
    capstanHome: at("capstan"),
    stateDir: at("capstan/state"),
    temporary: at("temporary"),
    readOnlyMounts: [],
    secretFiles: [],
    variables: {},
    real: (path) => path,
  });
}

/** Unlike mv it never copies. */
function rename(from: string, to: string): string {
  return `${process.execPath} -e "fs.renameSync('${from}', '${to}')"`;
}

test("mounts go from the root downwards: what lies deeper counts, and what is hidden and not there is left out", () => {
  using world = place(["hidden/ws/secret", "hidden/ws/.git", "hidden/other", "hidden/ws/a/b"]);
  const { at } = world;
  writeFileSync(at("hidden/ws/key"), "");
  symlinkSync(at("hidden/ws/secret"), at("link"));
  const given: SandboxPlan = {
    ...plan(at),
    workspace: at("hidden/ws"),
    denyRead: [at("hidden"), at("hidden/ws/key"), at("link"), at("missing")],
    allowRead: [at("hidden/ws")],
    allowWrite: [at("hidden/ws")],
    denyWrite: [at("hidden/ws/a/b"), at("elsewhere/later")],
  };
  const command = confinedCommand(given, { confine: ["bwrap"], ownDirectory: at("own") });
  const covers = coverOf(given);
  expect(covers).toEqual(
    [".claude", ".vscode", ".idea", ".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc"]
      .concat([".zprofile", ".profile", ".ripgreprc", ".mcp.json"])
      .map((name) => at("hidden/ws", name)),
  );
  const words = command.slice(command.indexOf("/run") + 1).join(" ");
  let others = words;
  for (const path of covers) others = others.replace(` --tmpfs ${path} --remount-ro ${path}`, "");
  expect(others.split(" ")).toEqual(
    [
      ["--bind", at("own"), at("own")],
      ["--tmpfs", at("hidden")],
      ["--bind", at("hidden/ws"), at("hidden/ws")],
      // So that it cannot be moved away with what is kept in it.
      ["--bind", at("hidden/ws/a"), at("hidden/ws/a")],
      ["--ro-bind", "/dev/null", at("hidden/ws/key")],
      ["--ro-bind", at("hidden/ws/a/b"), at("hidden/ws/a/b")],
      ["--ro-bind", at("hidden/ws/.git"), at("hidden/ws/.git")],
      ["--tmpfs", at("hidden/ws/secret")],
      ["--chdir", at("hidden/ws"), "--"],
    ].flat(),
  );
  expect(command.slice(0, 2)).toEqual(["bwrap", "--unshare-net"]);
});

sandboxTest("a server reads no secret of the project", () => {
  using world = place(["ws/deep", "ws/node_modules"]);
  const { at } = world;
  for (const path of ["ws/.env", "ws/deep/server.key", "ws/deep/.env.example"]) writeFileSync(at(path), `${path}\n`);
  const { confine = [] } = sandboxFinder(process.env["PATH"] ?? "")();
  const [program = "", ...args] = confinedCommand(plan(at), { confine, ownDirectory: at("own") });
  const { stdout } = spawnSync(program, [...args, "sh", "-c", "cat .env deep/server.key deep/.env.example"], {
    encoding: "utf8",
  });
  expect(stdout).toBe("ws/deep/.env.example\n");
});

sandboxTest("a server cannot write what programs outside believe, nor what deny_write names, there or not", () => {
  using world = place(["ws/.git/hooks", "ws/kept/deep/er", "out"]);
  const { at } = world;
  writeFileSync(at("ws/.zshrc"), "mine");
  const given = plan(at, { deny_write: ["later", "new/er", "kept/deep/er"], allow_write: [at("out")] });
  const { confine = [] } = sandboxFinder(process.env["PATH"] ?? "")();
  const [program = "", ...args] = confinedCommand(given, { confine, ownDirectory: at("own") });
  const covers = coverOf(given);
  const tries = [
    "echo x > .git/hooks/pre-commit",
    "mv .git moved",
    "mkdir .claude; echo x > .claude/settings.json",
    "echo x > .bashrc",
    "echo x >> .zshrc",
    "rm .zshrc",
    `echo x > ${at("out/.bashrc")}`,
    "mkdir later; echo x > later/file",
    "mkdir -p new/er; echo x > new/er/file",
    `${rename("kept/deep", "other")}; mkdir -p kept/deep/er; echo x > kept/deep/er/file`,
    rename("kept", "other"),
  ];
  const script = [...tries.map((line, index) => `(${line}) && echo did-${index}`), "echo x > fine && echo fine"];
  const ran = spawnSync(program, [...args, "sh", "-c", script.join("\n")], { encoding: "utf8" });
  expect(ran.stdout).toBe("fine\n");
  // What is left are empty directories, all of them known beforehand.
  for (const path of covers) rmdirSync(path);
  expect(readdirSync(at("ws")).toSorted()).toEqual([".git", ".zshrc", "fine", "kept"]);
  expect([readdirSync(at("ws/.git/hooks")), readdirSync(at("ws/kept/deep/er")), readdirSync(at("out"))]).toEqual([
    [],
    [],
    [],
  ]);
  expect(existsSync(at("own"))).toBe(true);
});
