import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFiles } from "../../src/app/host/open-files.ts";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import { agent, temporaryDirectory, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";

const worker = agent({ tools: ["Bash", "Write"], permissions: { mode: "yolo" } });

/** A repository in place of the workspace's own that runs a program wherever git would run one. */
function planting(traps: string): string {
  const trap = (name: string): string => `touch ${traps}/${name}; cat`;
  const settings = [
    ["core.fsmonitor", `touch ${traps}/fsmonitor; false`],
    ["filter.trap.clean", trap("clean")],
    ["filter.trap.smudge", trap("smudge")],
    ["diff.trap.textconv", `touch ${traps}/textconv; cat`],
    ["diff.trap.command", `touch ${traps}/diff; true`],
    ["diff.external", `touch ${traps}/external; true`],
    ["core.pager", trap("pager")],
    ["gpg.program", `touch ${traps}/gpg`],
    ["commit.gpgSign", "true"],
  ];
  const hooks = ["pre-commit", "post-checkout", "post-index-change", "reference-transaction", "post-commit"];
  return [
    "rm -rf .git && git init -q && git add . && git -c user.name=t -c user.email=t@example.com commit -qm own",
    ...hooks.map((name) => `printf '#!/bin/sh\\ntouch ${traps}/${name}\\n' > .git/hooks/${name}`),
    "chmod +x .git/hooks/*",
    ...settings.map(([name = "", value = ""]) => `git config ${name} '${value}'`),
    "echo '* filter=trap diff=trap' > .gitattributes",
    "echo PLANTED > planted.txt",
  ].join(" && ");
}

function empty(directory: string): void {
  for (const name of readdirSync(directory)) rmSync(join(directory, name));
}

test.each<NonNullable<EnvironmentInput["workspace"]>["kind"]>(["in-place", "worktree", "clone", "copy"])(
  "what an agent makes of the repository in its workspace is run by nothing of the host, %s",
  async (kind) => {
    using directory = temporaryDirectory();
    const traps = join(directory.path, "traps");
    mkdirSync(traps);
    await using t = await testHost(obedient);
    const git = (...args: string[]): string =>
      execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
        cwd: t.cwd,
        encoding: "utf8",
      });
    git("init", "-q", "-b", "main");
    // In a script, as no rule lets a command through that names such files.
    writeFileSync(join(t.cwd, "plant.sh"), planting(traps));
    git("add", ".");
    git("commit", "-q", "-m", "begin");
    const session = await t.host.startSession({
      agent: worker,
      cwd: t.cwd,
      environment: { workspace: kind === "copy" ? { kind, mounts: [{ source: ".", target: "." }] } : { kind } },
    });
    await session.send(order(["Bash", { command: "sh ./plant.sh" }])).result();
    const cwd = (await t.host.sessions()).find(({ id }) => id === session.id)?.cwd ?? "";
    expect(readdirSync(cwd)).toContain("planted.txt");
    await session.close();
    empty(traps);

    // A second process, its checkpoints, and everything that a person may ask for.
    const resumed = await t.host.resumeSession(session.id);
    await resumed.send(order(["Write", { file_path: join(cwd, "b.txt"), content: "b" }])).result();
    await resumed.close();
    const { files } = await t.host.files.diff(session.id, { byCall: true });
    expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(["b.txt", "planted.txt"]));
    await t.host.files.patch(session.id);
    // It may well be refused, after what was done to the repository.
    await t.host.files.exportBranch(session.id).catch(() => {});
    await t.host.files.rewind(session.id, { to: "start" });
    expect(readdirSync(traps)).toEqual([]);

    // They would have been run by a git that believes what stands there.
    execFileSync("git", ["status"], { cwd, stdio: "ignore" });
    expect(readdirSync(traps)).toContain("fsmonitor");
    empty(traps);
    await using opened = await openFiles(t.home, t.environment);
    await opened.workspaces.remove(session.id, { discardChanges: true }).catch(() => {});
    expect(readdirSync(traps)).toEqual([]);
  },
  60_000,
);
