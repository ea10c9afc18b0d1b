import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { obedient, order } from "../support/obedient-model.ts";

const worker = agent({ tools: ["Read", "Write", "Edit", "Bash"], permissions: { mode: "yolo" } });

function git(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com"];
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8" }).trim();
}

function repository(cwd: string): void {
  git(cwd, "init", "-q", "-b", "main");
  writeFileSync(join(cwd, "readme.md"), "# A project\n");
  git(cwd, "add", ".");
  git(cwd, "commit", "-q", "-m", "begin");
}

test("seven worktree sessions on one repository work side by side and end with seven branches", async () => {
  await using t = await testHost(obedient);
  repository(t.cwd);
  const before = [
    git(t.cwd, "status", "--porcelain"),
    git(t.cwd, "rev-parse", "HEAD"),
    readFileSync(join(t.cwd, ".git/index")),
  ];
  const branches = await Promise.all(
    Array.from({ length: 7 }, async (_, index) => {
      const session = await t.host.startSession({
        agent: worker,
        cwd: t.cwd,
        environment: { workspace: { kind: "worktree" } },
      });
      await session.send(order(["Bash", { command: `echo ${index} > result.txt` }])).result();
      const { branch } = await t.host.files.exportBranch(session.id);
      await session.close();
      return { branch, index };
    }),
  );
  expect(new Set(branches.map(({ branch }) => branch)).size).toBe(7);
  for (const { branch, index } of branches) {
    expect(git(t.cwd, "show", `${branch}:result.txt`)).toBe(String(index));
    expect(git(t.cwd, "log", "--format=%s", `main..${branch}`)).toMatch(/^Changes of session/);
  }
  expect([
    git(t.cwd, "status", "--porcelain"),
    git(t.cwd, "rev-parse", "HEAD"),
    readFileSync(join(t.cwd, ".git/index")),
  ]).toEqual(before);
  expect(existsSync(join(t.cwd, "result.txt"))).toBe(false);
}, 120_000);

test("a copy is told to the model, and applied back only when somebody wants it", async () => {
  await using t = await testHost(obedient);
  mkdirSync(join(t.cwd, "docs"));
  writeFileSync(join(t.cwd, "docs/a.md"), "a\n");
  writeFileSync(join(t.cwd, "code.ts"), "1\n");
  const session = await t.host.startSession({
    agent: worker,
    cwd: t.cwd,
    environment: {
      workspace: {
        kind: "copy",
        mounts: [
          { source: ".", target: ".", exclude: ["docs/"] },
          { source: "docs", read_only: true },
        ],
      },
    },
  });
  expect(session.record).toMatchObject({ source: t.cwd });
  expect(session.record.cwd).not.toBe(t.cwd);
  await session
    .send(
      order(
        ["Write", { file_path: join(session.record.cwd, "new.ts"), content: "2\n" }],
        ["Write", { file_path: join(session.record.cwd, "docs/a.md"), content: "changed\n" }],
      ),
    )
    .result();
  expect(JSON.stringify(t.model.requests[0]?.body.system)).toMatch(/holds copies[^]*docs \(read-only\)/);
  expect(readFileSync(join(t.cwd, "docs/a.md"), "utf8")).toBe("a\n");
  expect(existsSync(join(t.cwd, "new.ts"))).toBe(false);

  const { applied, conflicts } = await t.host.files.apply(session.id);
  expect(conflicts).toEqual([]);
  expect(applied).toEqual([{ path: join(t.cwd, "new.ts"), how: "written" }]);
  expect(readFileSync(join(t.cwd, "new.ts"), "utf8")).toBe("2\n");
});

test("a fork has files of its own, as the parent's were then", async () => {
  await using t = await testHost(obedient);
  repository(t.cwd);
  const environment = { workspace: { kind: "worktree" as const } };
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd, environment });
  await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
  const at = (await eventsOf(t.host, session.id)).at(-1)?.seq ?? 0;
  await session.send(order(["Bash", { command: "echo 2 > a" }])).result();
  const fork = await t.host.forkSession(session.id, { at });
  expect(fork.record.cwd).not.toBe(session.record.cwd);
  expect(readFileSync(join(fork.record.cwd, "a"), "utf8")).toBe("1\n");
  await fork.send(order(["Bash", { command: "echo 3 > a" }])).result();
  expect(readFileSync(join(session.record.cwd, "a"), "utf8")).toBe("2\n");
});

test("a second session in one directory waits for the first one's turn, or is refused", async () => {
  await using t = await testHost(obedient);
  const first = await t.host.startSession({ agent: worker, cwd: t.cwd });
  const inside = join(t.cwd, "inside");
  mkdirSync(inside);
  const second = await t.host.startSession({ agent: worker, cwd: inside });
  const impatient = await t.host.startSession({
    agent: worker,
    cwd: t.cwd,
    environment: { workspace: { kind: "in-place", when_busy: "refuse" } },
  });
  const long = first.send(order(["Bash", { command: "until [ -e go ]; do sleep 0.05; done; echo first > order" }]));
  for await (const item of first.events()) if (item.type === "capstan.permission_decided") break;
  const waits = second.send(order(["Bash", { command: "cat ../order > seen" }]));
  for await (const item of second.events()) if (item.type === "capstan.workspace_busy") break;
  await expect(impatient.send("Hello.").result()).rejects.toMatchObject({ code: "workspace_busy" });
  writeFileSync(join(t.cwd, "go"), "");
  await Promise.all([long.result(), waits.result()]);
  expect(readFileSync(join(inside, "seen"), "utf8")).toBe("first\n");
  // What it was told then was stored, and is answered now.
  expect((await impatient.send("Are you there?").result()).text).toMatch(/^ok(\nok)?$/);
  expect(t.model.requests.at(-1)?.transcript).toMatch(/Hello\.[^]*Are you there\?/);
});

test("workspaces are listed and removed, but not with changes that nobody has taken", async () => {
  await using t = await testHost(obedient);
  repository(t.cwd);
  const environment = { workspace: { kind: "worktree" as const } };
  const session = await t.host.startSession({ agent: worker, cwd: t.cwd, environment });
  await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
  await session.close();
  expect(await t.host.workspaces.list()).toMatchObject([
    { sessionId: session.id, kind: "worktree", source: t.cwd, hasUnexportedChanges: true },
  ]);
  await expect(t.host.workspaces.remove(session.id)).rejects.toMatchObject({ code: "workspace_conflict" });
  await t.host.files.exportBranch(session.id);
  await t.host.workspaces.remove(session.id);
  expect(existsSync(session.record.cwd)).toBe(false);
  expect(await t.host.workspaces.list()).toEqual([]);
  expect(git(t.cwd, "worktree", "list").split("\n")).toHaveLength(1);
  await expect(t.host.resumeSession(session.id)).rejects.toMatchObject({ code: "not_found" });
  expect(ofType(await eventsOf(t.host, session.id), "capstan.workspace_removed")).toHaveLength(1);
});

test("changes are not applied to a directory in which another session works just now", async () => {
  await using t = await testHost(obedient);
  const mounts = [{ source: ".", target: "." }];
  const copy = await t.host.startSession({
    agent: worker,
    cwd: t.cwd,
    environment: { workspace: { kind: "copy", mounts } },
  });
  await copy.send(order(["Bash", { command: "echo 1 > new" }])).result();
  const inPlace = await t.host.startSession({ agent: worker, cwd: t.cwd });
  const turn = inPlace.send(order(["Bash", { command: "until [ -e go ]; do sleep 0.05; done" }]));
  for await (const item of inPlace.events()) if (item.type === "capstan.permission_decided") break;
  await expect(t.host.files.apply(copy.id)).rejects.toMatchObject({ code: "workspace_busy" });
  expect(existsSync(join(t.cwd, "new"))).toBe(false);
  writeFileSync(join(t.cwd, "go"), "");
  await turn.result();
  await t.host.files.apply(copy.id);
  expect(existsSync(join(t.cwd, "new"))).toBe(true);
});

test("a directory that a dead host's turn had is free when its session is taken up again", async () => {
  await using t = await testHost(obedient);
  const left = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await left.close();
  {
    await using store = await openStore(t.home, {});
    await store.claims.claim(left.id, t.cwd);
  }
  await t.host.resumeSession(left.id, { onCrash: "stop" });
  const other = await t.host.startSession({ agent: worker, cwd: t.cwd });
  await other.send("Hello.").result();
  expect(ofType(await eventsOf(t.host, other.id), "capstan.workspace_busy")).toEqual([]);
});

test("files are not worked with while a turn waits for an answer", async () => {
  await using t = await testHost(obedient);
  const asking = agent({ tools: ["Bash"], permissions: { ask: ["Bash"] } });
  const session = await t.host.startSession({ agent: asking, cwd: t.cwd });
  await session.send(order(["Bash", { command: "echo 1 > a" }])).result();
  await expect(t.host.files.exportPatch(session.id, "-")).rejects.toMatchObject({ code: "approval_pending" });
});
