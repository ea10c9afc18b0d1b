import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { hostFor } from "../../src/cli/target/host.ts";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import { agent, eventsOf, ofType, temporaryDirectory, testHost } from "../support/host.ts";
import { sandboxTest } from "../support/hostile-world.ts";
import { obedient, order } from "../support/obedient-model.ts";
import { say, scriptedModel, toolUse } from "../support/scripted-model.ts";
import { loadTrusted } from "../support/trust.ts";

const SANDBOX: EnvironmentInput = {
  // The programs of the tests are in the repository, which may itself lie where the sandbox hides everything.
  sandbox: { mode: "required", auto_allow_sandboxed: true, allow_read: [resolve(".")] },
};
const SERVER = fileURLToPath(new URL("../support/hostile-server.ts", import.meta.url));

/** What git itself keeps for worktrees and their branches. */
const OF_WORKTREES = /\.git\/(worktrees|(logs\/)?refs\/heads\/capstan)(\/|$)/;

function git(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8" }).trim();
}

/** Everything below a directory but the objects of git. */
function tree(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => !/objects\/[0-9a-f]{2}/.test(path))
    .toSorted();
}

sandboxTest(
  "a process that runs without the sandbox is not taken for confined when one is installed later",
  async () => {
    using directory = temporaryDirectory();
    const provide = (...names: string[]): void => {
      for (const name of names)
        symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(directory.path, name));
    };
    provide("setpriv", "unshare", "sh", "bash", "env", "cat", "git", "true");
    await using t = await testHost(obedient);
    await using host = await t.another({ environment: { ...t.environment, PATH: directory.path } });
    const asked: unknown[] = [];
    const session = await host.startSession({
      agent: agent({ tools: ["Bash"] }),
      cwd: t.cwd,
      environment: { sandbox: { mode: "preferred", auto_allow_sandboxed: true } },
      askPermission: ({ input }) => {
        asked.push(input["command"]);
        return { behavior: "deny", by: "tester" };
      },
    });
    await session.send(order(["Bash", { command: "echo first > made" }])).result();
    provide("bwrap", "socat");
    await session.send(order(["Bash", { command: "echo second > made" }])).result();
    expect(asked).toEqual(["echo first > made", "echo second > made"]);
    expect(existsSync(join(t.cwd, "made"))).toBe(false);
    // The next process has it.
    await session.close();
    const resumed = await host.resumeSession(session.id);
    await resumed.send(order(["Bash", { command: "echo third > made" }])).result();
    expect(asked).toHaveLength(2);
    expect(ofType(await eventsOf(host, session.id), "capstan.process_started").map(({ sandbox }) => sandbox)).toEqual([
      "unavailable",
      "on",
    ]);
  },
);

sandboxTest("a worktree's repository can be read and not written, and nothing of the sandbox stays in it", async () => {
  const told: string[] = [];
  await using t = await testHost((request) => {
    told.push(...request.toolResults.map(({ text }) => text));
    return obedient(request);
  });
  git(t.cwd, "init", "-q", "-b", "main");
  writeFileSync(join(t.cwd, "a.txt"), "a\n");
  git(t.cwd, "add", ".");
  git(t.cwd, "commit", "-q", "-m", "begin");
  const start = () =>
    t.host.startSession({
      agent: agent({ tools: ["Bash"], mcp_servers: { quiet: { command: process.execPath, args: [SERVER] } } }),
      cwd: t.cwd,
      environment: { ...SANDBOX, workspace: { kind: "worktree" } },
    });
  const before = tree(t.cwd);
  const idle = await start();
  const session = await start();
  const look = "pwd; echo b >> a.txt; git status --short; git diff --stat; git log --format=%s";
  const C = "C=$(git rev-parse --path-format=absolute --git-common-dir)";
  const writes = `${C}; for f in HEAD index info/attributes refs/heads/x worktrees/x; do echo x >> $C/$f && echo DID; done; git -c user.name=t -c user.email=t@example.com commit -qam x && echo DID; git branch x && echo DID`;
  await session.send(order(["Bash", { command: look }])).result();
  await session.send(order(["Bash", { command: writes }])).result();
  expect(told[0]).toMatch(/ M a\.txt\n.*1 insertion.*\nbegin/s);
  expect(told[1]).not.toContain("DID");
  const { branch } = await t.host.files.exportBranch(session.id);
  expect(git(t.cwd, "show", `${branch}:a.txt`)).toBe("a\nb");
  await session.close();
  await idle.close();
  const left = tree(t.cwd);
  expect(left.filter((path) => !OF_WORKTREES.test(path))).toEqual(before);
  expect(left.filter((path) => /config\.worktree|glab-cli/.test(path))).toEqual([]);
  expect(readdirSync(told[0]?.split("\n")[0] ?? "").toSorted()).toEqual([".git", "a.txt"]);
  expect(git(t.cwd, "status", "--porcelain")).toBe("");
});

sandboxTest.each(["in-place", "copy"] as const)("the .env that holds the credential is hidden, %s", async (kind) => {
  using directory = temporaryDirectory();
  const [cwd, home] = [join(directory.path, "project"), join(directory.path, "home")];
  mkdirSync(join(cwd, ".capstan"), { recursive: true });
  const results: string[] = [];
  await using model = await scriptedModel((request) => {
    results.push(...request.toolResults.map(({ text }) => text));
    const calls = [toolUse("Bash", { command: "ls .e*; cat .e*; cat plain" }), toolUse("Read", { file_path: ".env" })];
    const call = calls[results.length];
    return call === undefined ? say("done") : { blocks: [call] };
  });
  writeFileSync(join(cwd, ".env"), `ANTHROPIC_API_KEY=key-of-the-project\nANTHROPIC_BASE_URL=${model.url}\n`);
  writeFileSync(join(cwd, "plain"), "plain text");
  const environment = { PATH: process.env["PATH"], HOME: directory.path, CAPSTAN_HOME: home };
  await using host = await hostFor(await loadTrusted({ cwd, environment, flags: {} }), undefined);
  const session = await host.startSession({
    agent: agent({ tools: ["Bash", "Read"], permissions: { mode: "yolo" } }),
    cwd,
    environment: {
      ...SANDBOX,
      workspace: kind === "copy" ? { kind, mounts: [{ source: ".", target: "." }] } : { kind },
    },
  });
  expect((await session.send("Go.").result()).text).toBe("done");
  // Its name is there, and nothing in it.
  expect(results[0]).toMatch(/^\.env\n.*plain text$/s);
  expect(results.join("\n")).not.toContain("key-of-the-project");
  expect(results[1]).toContain("denied");
});

sandboxTest("places that a server's sandbox keeps are gone when its session is closed", async () => {
  await using t = await testHost(obedient);
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"], mcp_servers: { quiet: { command: process.execPath, args: [SERVER] } } }),
    cwd: t.cwd,
    environment: { sandbox: { ...SANDBOX.sandbox, deny_write: ["later"] } },
  });
  await session.send(order(["Bash", { command: "echo in > inside.txt" }])).result();
  // They last as long as the server; git and checkpoints overlook empty directories.
  expect(readdirSync(t.cwd)).toEqual(expect.arrayContaining([".claude", ".bashrc", "later"]));
  expect((await t.host.files.diff(session.id)).files.map(({ path }) => path)).toEqual(["inside.txt"]);
  await session.close();
  expect(readdirSync(t.cwd)).toEqual(["inside.txt"]);
});

sandboxTest("an empty file that a person makes meanwhile is left to them", async () => {
  await using t = await testHost(obedient);
  const session = await t.host.startSession({ agent: agent({ tools: ["Bash"] }), cwd: t.cwd, environment: SANDBOX });
  await session.send(order(["Bash", { command: "true" }])).result();
  writeFileSync(join(t.cwd, ".mcp.json"), "");
  await session.close();
  expect(readdirSync(t.cwd)).toEqual([".mcp.json"]);
});
