import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failureOf, filesOf, gitIn, makeRepository, placeOf, type Site, site, treeOf, write } from "./support.ts";

const WORKTREE = { kind: "worktree" } as const;

/** A machine whose project is a repository. */
function repositorySite(files: Record<string, string> = { "a.txt": "one\n", "sub/b.txt": "two\n" }): Site {
  const machine = site();
  makeRepository(machine.source, files);
  return machine;
}

const headOf = (directory: string): string => gitIn(directory, "rev-parse", "HEAD").trim();

test("a worktree is on a branch of its own, from the commit that is checked out", async () => {
  using machine = repositorySite();
  const made = await machine.workspaces.prepare(machine.request(WORKTREE));
  expect(made).toMatchObject({ branch: "capstan/session-1", base: headOf(machine.source), notes: [] });
  expect(gitIn(made.cwd, "symbolic-ref", "HEAD").trim()).toBe("refs/heads/capstan/session-1");
});

test("base and branch can be chosen; the branch stays when the worktree is removed", async () => {
  using machine = repositorySite();
  const first = headOf(machine.source);
  write(machine.source, { "a.txt": "later\n" });
  gitIn(machine.source, "commit", "--quiet", "--all", "--message", "second");
  const request = machine.request({ ...WORKTREE, base: "HEAD~1", branch: "work/of-agent" });
  const made = await machine.workspaces.prepare(request);
  expect(made).toMatchObject({ branch: "work/of-agent", base: first });
  expect(readFileSync(join(made.cwd, "a.txt"), "utf8")).toBe("one\n");
  gitIn(made.cwd, "commit", "--quiet", "--allow-empty", "--message", "the agent's");
  const committed = headOf(made.cwd);
  await machine.workspaces.remove(placeOf(request, made));
  expect(gitIn(machine.source, "rev-parse", "work/of-agent").trim()).toBe(committed);
});

test("seven worktrees of one repository are made and removed at once", async () => {
  using machine = repositorySite();
  const before = readFileSync(join(machine.source, ".git/index"));
  const requests = Array.from({ length: 7 }, (_, index) => machine.request(WORKTREE, `session-${index}`));
  const made = await Promise.all(requests.map((request) => machine.workspaces.prepare(request)));
  expect(new Set(made.map(({ cwd }) => cwd)).size).toBe(7);
  expect(gitIn(machine.source, "worktree", "list").trim().split("\n")).toHaveLength(8);
  for (const { cwd } of made) expect(gitIn(cwd, "status", "--porcelain")).toBe("");
  await Promise.all(
    requests.map(async (request, index) => {
      const one = made[index];
      if (one !== undefined) await machine.workspaces.remove(placeOf(request, one));
    }),
  );
  expect(gitIn(machine.source, "worktree", "list").trim().split("\n")).toHaveLength(1);
  expect(gitIn(machine.source, "branch", "--list", "capstan/*").trim().split("\n")).toHaveLength(7);
  expect(readFileSync(join(machine.source, ".git/index"))).toEqual(before);
});

test("a session started in a subdirectory works in that one, which is made where the commit has none", async () => {
  using machine = repositorySite();
  mkdirSync(join(machine.source, "fresh"));
  const known = { ...machine.request(WORKTREE), source: join(machine.source, "sub") };
  const fresh = { ...machine.request(WORKTREE, "session-2"), source: join(machine.source, "fresh") };
  const first = await machine.workspaces.prepare(known);
  expect(filesOf(first.cwd)).toEqual(["b.txt"]);
  expect(first.source).toBe(known.source);
  const second = await machine.workspaces.prepare(fresh);
  expect(second.cwd).toBe(join(machine.root, "session-2/files/fresh"));
  expect(existsSync(second.cwd)).toBe(true);
  await machine.workspaces.remove(placeOf(known, first));
  expect(gitIn(machine.source, "worktree", "list").trim().split("\n")).toHaveLength(2);
});

test("a subdirectory that is a link out of the repository in the commit is refused, and nothing is left", async () => {
  using machine = repositorySite();
  const sub = join(machine.source, "sub");
  rmSync(sub, { recursive: true });
  symlinkSync(machine.home, sub);
  gitIn(machine.source, "add", "--all");
  gitIn(machine.source, "commit", "--quiet", "--message", "link");
  rmSync(sub);
  mkdirSync(sub);
  const failure = await failureOf(machine.workspaces.prepare({ ...machine.request(WORKTREE), source: sub }));
  expect(failure).toMatchObject({ code: "workspace_invalid", message: expect.stringContaining("link") });
  expect(treeOf(machine.root)).toEqual({});
  expect(gitIn(machine.source, "branch", "--list").trim()).toBe("* main");
});

test("uncommitted changes, a detached HEAD, submodules and Git LFS are told", async () => {
  using machine = repositorySite({ "a.txt": "one\n", "deep/.gitattributes": "*.bin filter=lfs\n" });
  const library = join(machine.path, "library");
  makeRepository(library, { "lib.txt": "lib" });
  gitIn(machine.source, "submodule", "--quiet", "add", library, "lib");
  gitIn(machine.source, "commit", "--quiet", "--message", "submodule");
  gitIn(machine.source, "checkout", "--quiet", "--detach");
  write(machine.source, { "a.txt": "changed\n", "new.txt": "new\n" });
  const before = treeOf(machine.source, { times: true });
  const request = machine.request(WORKTREE);
  const made = await machine.workspaces.prepare(request);
  expect(made.notes).toHaveLength(4);
  expect(made.notes.join("\n")).toMatch(/2 uncommitted files[^]*detached HEAD[^]*submodules[^]*Git LFS/);
  expect(readFileSync(join(made.cwd, "a.txt"), "utf8")).toBe("one\n");
  expect(filesOf(join(made.cwd, "lib"))).toEqual([]);
  const after = treeOf(machine.source, { times: true });
  for (const [path, was] of Object.entries(before)) expect([path, after[path]]).toEqual([path, was]);
  await machine.workspaces.remove(placeOf(request, made));
  expect(gitIn(machine.source, "worktree", "list").trim().split("\n")).toHaveLength(1);
});

test("what cannot become a worktree is refused with what to do", async () => {
  using machine = site();
  const refusal = async (workspace = {}, source = machine.source): Promise<string> => {
    const request = { ...machine.request({ ...WORKTREE, ...workspace }), source };
    const failure = await failureOf(machine.workspaces.validate(request));
    expect(failure.code).toBe("workspace_invalid");
    return failure.message;
  };
  expect(await refusal()).toMatch(/not in a git repository.*kind copy/);
  gitIn(machine.source, "init", "--quiet", "--initial-branch=main");
  expect(await refusal()).toMatch(/has no commit yet.*Commit something first/);
  expect(await refusal({ base: "main" })).toMatch(/has no commit yet/);
  expect(await refusal({}, join(machine.source, ".git"))).toMatch(/Start the session in its checkout/);
  makeRepository(machine.source, { "a.txt": "one" });
  expect(await refusal({ base: "nowhere" })).toMatch(/environment\.workspace\.base.*"nowhere"/);
  expect(await refusal({ base: "--all" })).toMatch(/environment\.workspace\.base/);
  expect(await refusal({ branch: "main" })).toMatch(/The branch main already exists.*git branch -D main/);
  for (const branch of ["a..b", "-x", "with space", "end.lock", "@{-1}", "HEAD", "line\nbreak"])
    expect(await refusal({ branch })).toMatch(/environment\.workspace\.branch: git does not accept/);
  const bare = join(machine.path, "bare.git");
  gitIn(machine.path, "clone", "--quiet", "--bare", machine.source, bare);
  expect(await refusal({}, bare)).toMatch(/bare repository/);
});

test("of two sessions that want the same branch one gets it, and the other removes nothing of it", async () => {
  using machine = repositorySite();
  const requests = ["session-1", "session-2"].map((id) => machine.request({ ...WORKTREE, branch: "wanted" }, id));
  const results = await Promise.allSettled(requests.map((request) => machine.workspaces.prepare(request)));
  const failed = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  expect(failed).toMatchObject([{ code: "workspace_invalid", message: expect.stringContaining("already exists") }]);
  expect(gitIn(machine.source, "rev-parse", "wanted").trim()).toBe(headOf(machine.source));
  expect(await machine.workspaces.sessionIds()).toHaveLength(1);
});

test("a checkout that fails half-way leaves neither worktree nor branch", async () => {
  using machine = repositorySite({ "a.txt": "one\n" });
  const blob = gitIn(machine.source, "rev-parse", "HEAD:a.txt").trim();
  rmSync(join(machine.source, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  const failure = await failureOf(machine.workspaces.prepare(machine.request(WORKTREE)));
  expect(failure).toMatchObject({ code: "workspace_failed", message: expect.stringContaining("a.txt") });
  expect(treeOf(machine.root)).toEqual({});
  expect(gitIn(machine.source, "branch", "--list").trim()).toBe("* main");
  expect(gitIn(machine.source, "worktree", "list").trim().split("\n")).toHaveLength(1);
});

test("hooks of the repository do not run", async () => {
  using machine = repositorySite();
  const trace = join(machine.path, "hook-ran");
  for (const hook of ["post-checkout", "reference-transaction", "post-index-change"])
    writeFileSync(join(machine.source, ".git/hooks", hook), `#!/bin/sh\ntouch "${trace}"\n`, { mode: 0o755 });
  await machine.workspaces.prepare(machine.request(WORKTREE));
  expect(existsSync(trace)).toBe(false);
});

test("a worktree that the agent broke, or whose repository is gone, can be removed", async () => {
  using machine = repositorySite();
  const broken = machine.request(WORKTREE);
  const first = await machine.workspaces.prepare(broken);
  writeFileSync(join(first.cwd, ".git"), "gitdir: /nowhere\n");
  await machine.workspaces.remove(placeOf(broken, first));
  expect(gitIn(machine.source, "worktree", "list").trim().split("\n")).toHaveLength(1);
  const orphan = machine.request(WORKTREE, "session-2");
  const second = await machine.workspaces.prepare(orphan);
  rmSync(machine.source, { recursive: true });
  await machine.workspaces.remove(placeOf(orphan, second));
  expect(treeOf(machine.root)).toEqual({});
});

test("other worktrees of the person are left alone, also one whose disk is away", async () => {
  using machine = repositorySite();
  const away = join(machine.path, "away");
  gitIn(machine.source, "worktree", "add", "--quiet", "-b", "theirs", away);
  rmSync(away, { recursive: true });
  const request = machine.request(WORKTREE);
  await machine.workspaces.remove(placeOf(request, await machine.workspaces.prepare(request)));
  expect(gitIn(machine.source, "worktree", "list")).toContain(away);
});

test("a repository of another user needs the trust that the person gave it", async () => {
  using machine = repositorySite();
  // Only root can give files away; for others this is a repository of their own, which needs no trust.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) for (const path of [machine.source, join(machine.source, ".git")]) chownSync(path, 12_345, 12_345);
  const request = machine.request(WORKTREE);
  if (isRoot) {
    const failure = await failureOf(machine.workspaces.validate(request));
    expect(failure).toMatchObject({ code: "workspace_invalid", message: expect.stringContaining("safe.directory") });
  }
  writeFileSync(join(machine.home, ".gitconfig"), `[safe]\n\tdirectory = ${machine.source}\n`);
  const made = await machine.workspaces.prepare(request);
  expect(filesOf(made.cwd)).toContain("a.txt");
});

test("without git, worktrees and clones say so; copies and work in place do not need it", async () => {
  using machine = repositorySite();
  const path = process.env["PATH"];
  process.env["PATH"] = join(machine.path, "no-programs");
  try {
    for (const workspace of [WORKTREE, { kind: "clone" }, { kind: "clone", from: "https://127.0.0.1/x" }] as const) {
      const failure = await failureOf(machine.workspaces.validate(machine.request(workspace)));
      expect(failure).toMatchObject({
        code: "workspace_failed",
        message: expect.stringContaining("git was not found"),
      });
    }
    await machine.workspaces.prepare(machine.request({ kind: "in-place" }));
    const made = await machine.workspaces.prepare(machine.request({ kind: "copy", mounts: [{ source: "sub" }] }));
    expect(filesOf(made.cwd)).toEqual(["sub/b.txt"]);
  } finally {
    process.env["PATH"] = path;
  }
});
