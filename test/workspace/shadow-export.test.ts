import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inflateRawSync } from "node:zlib";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ShadowWorkspace, shadowWorkspace, treeOf, userGit } from "./shadow-workspace.ts";

beforeEach(() => vi.stubEnv("HOME", "/nonexistent"));
afterEach(() => vi.unstubAllEnvs());

/** A repository on the host with one commit, and a copy of its files as the workspace. */
function withRepository(place: ShadowWorkspace, files: Record<string, string> = { a: "1\n", b: "1\n" }): void {
  userGit(place.source, "init", "--quiet", "--initial-branch=main");
  for (const [name, content] of Object.entries(files)) writeFileSync(join(place.source, name), content);
  userGit(place.source, "add", "-A");
  userGit(place.source, "commit", "--quiet", "-m", "first");
  cpSync(place.source, place.cwd, { recursive: true, filter: (path) => !path.endsWith(".git") });
}

test("a zip file has the files of the checkpoint, and appears whole", async () => {
  using place = shadowWorkspace();
  mkdirSync(place.path("d"));
  writeFileSync(place.path("d/a"), "1\r\n");
  writeFileSync(place.path("tool"), "#!/bin/sh\n");
  chmodSync(place.path("tool"), 0o755);
  symlinkSync("d/a", place.path("link"));
  const { commit } = await place.keep();
  writeFileSync(place.path("d/a"), "changed\n");
  await place.workspace.exportZip(commit, join(place.root, "out.zip"));
  expect(readZip(join(place.root, "out.zip"))).toEqual(
    new Map([
      ["d/a", "644 1\r\n"],
      ["link", "link d/a"],
      ["tool", "755 #!/bin/sh\n"],
    ]),
  );
  await expect(place.workspace.exportZip(commit, join(place.root, "nowhere/out.zip"))).rejects.toMatchObject({
    code: "workspace_failed",
  });
});

/** The files in it as `treeOf` describes them, as far as a zip file can say it. */
function readZip(file: string): Map<string, string> {
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf("PK\u0005\u0006", undefined, "latin1");
  const found = new Map<string, string>();
  for (let at = bytes.readUInt32LE(end + 16); bytes.readUInt32LE(at) === 0x02014b50;) {
    const [nameLength, extra, comment] = [28, 30, 32].map((field) => bytes.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    const header = bytes.readUInt32LE(at + 42);
    const start = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
    const packed = bytes.subarray(start, start + bytes.readUInt32LE(at + 20));
    const content = (bytes.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed)).toString("latin1");
    const mode = bytes.readUInt32LE(at + 38) >>> 16;
    if ((mode & 0o170000) === 0o120000) found.set(name, `link ${content}`);
    else if (!name.endsWith("/")) found.set(name, `${(mode & 0o100) === 0 ? "644" : "755"} ${content}`);
    at += 46 + nameLength + extra + comment;
  }
  return found;
}

test("a branch gets one commit with what changed, and nothing else of the repository is touched", async () => {
  using place = shadowWorkspace();
  withRepository(place, { a: "1\n", b: "1\n", ".gitignore": "*.log\n" });
  // A dirty checkout, a staged file, and a hook that would fail.
  writeFileSync(join(place.source, "a"), "the user's\n");
  writeFileSync(join(place.source, "staged"), "s\n");
  userGit(place.source, "add", "staged");
  mkdirSync(join(place.source, ".git/hooks"), { recursive: true });
  for (const hook of ["pre-commit", "reference-transaction", "post-update"])
    writeFileSync(join(place.source, ".git/hooks", hook), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const checkout = treeOf(place.source);
  const status = userGit(place.source, "status", "--porcelain");
  const from = await place.keep();
  writeFileSync(place.path("b"), "2\n");
  rmSync(place.path("a"));
  writeFileSync(place.path("debug.log"), "ignored\n");
  mkdirSync(place.path("d"));
  writeFileSync(place.path("d/tool"), "x\n", { mode: 0o755 });
  symlinkSync("b", place.path("link"));
  const to = await place.keep(from.commit);
  const head = userGit(place.source, "rev-parse", "HEAD").trim();
  const request = { from: from.commit, to: to.commit, branch: "work", message: "What the agent did" };
  const made = await place.workspace.exportBranch(request);
  expect(made.skipped).toEqual(["debug.log"]);
  expect(userGit(place.source, "rev-parse", "work", "work^").trim().split("\n")).toEqual([made.commit, head]);
  expect(userGit(place.source, "ls-tree", "-r", "--format=%(objectmode) %(path)", "work").trim().split("\n")).toEqual([
    "100644 .gitignore",
    "100644 b",
    "100755 d/tool",
    "120000 link",
  ]);
  expect(userGit(place.source, "log", "-1", "--format=%an <%ae>%n%s", "work")).toBe(
    "Capstan <capstan@localhost>\nWhat the agent did\n",
  );
  expect(treeOf(place.source)).toEqual(checkout);
  expect(userGit(place.source, "status", "--porcelain")).toBe(status);
});

test("a second export goes on top of the first; the branch of somebody else is refused", async () => {
  using place = shadowWorkspace();
  withRepository(place);
  userGit(place.source, "config", "user.name", "Ada");
  userGit(place.source, "config", "user.email", "ada@example.com");
  const from = await place.keep();
  writeFileSync(place.path("a"), "2\n");
  const middle = await place.keep(from.commit);
  const request = { from: from.commit, to: middle.commit, branch: "work", message: "One" };
  const first = await place.workspace.exportBranch(request);
  expect(await place.workspace.exportBranch(request)).toEqual(first);
  writeFileSync(place.path("b"), "2\n");
  const to = await place.keep(middle.commit);
  const second = await place.workspace.exportBranch({ ...request, to: to.commit, message: "Two" });
  expect(userGit(place.source, "log", "--format=%H %an %s", "work").trim().split("\n").slice(0, 2)).toEqual([
    `${second.commit} Ada Two`,
    `${first.commit} Ada One`,
  ]);
  userGit(place.source, "branch", "theirs");
  for (const branch of ["theirs", "main"])
    await expect(place.workspace.exportBranch({ ...request, branch })).rejects.toMatchObject({
      code: "workspace_conflict",
      message: expect.stringContaining(branch),
    });
  for (const branch of ["no..good", "-x", ""])
    await expect(place.workspace.exportBranch({ ...request, branch })).rejects.toMatchObject({
      code: "workspace_invalid",
    });
  await expect(place.workspace.exportBranch({ ...request, branch: "new", base: "nothing" })).rejects.toMatchObject({
    code: "workspace_invalid",
  });
});

test("a subdirectory, a detached HEAD, another base, line endings of the repository", async () => {
  using place = shadowWorkspace({ source: "host/sub" });
  const top = join(place.root, "host");
  userGit(top, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(top, ".gitattributes"), "* text eol=crlf\n");
  writeFileSync(join(top, ".gitignore"), "sub/ignored\n");
  writeFileSync(join(place.source, "a"), "1\r\n");
  userGit(top, "add", "-A");
  userGit(top, "commit", "--quiet", "-m", "first");
  const base = userGit(top, "rev-parse", "HEAD").trim();
  userGit(top, "commit", "--quiet", "--allow-empty", "-m", "second");
  userGit(top, "checkout", "--quiet", "--detach");
  writeFileSync(place.path("a"), "1\r\n");
  const from = await place.keep();
  writeFileSync(place.path("a"), "2\r\n");
  writeFileSync(place.path("ignored"), "x\r\n");
  writeFileSync(place.path('odd\n"name'), "x\r\n");
  const to = await place.keep(from.commit);
  const request = { from: from.commit, to: to.commit, message: "m" };
  await place.workspace.exportBranch({ ...request, branch: "on-head" });
  const second = await place.workspace.exportBranch({ ...request, branch: "on-base", base });
  expect(userGit(top, "rev-parse", "on-base^").trim()).toBe(base);
  expect(userGit(top, "log", "-1", "--format=%s", "on-head^")).toBe("second\n");
  // As the user's own git would have taken it.
  expect(userGit(top, "show", `${second.commit}:sub/a`)).toBe("2\n");
  expect(userGit(top, "ls-tree", "-r", "-z", "--name-only", "on-base").split("\0")).toEqual([
    ".gitattributes",
    ".gitignore",
    "sub/a",
    'sub/odd\n"name',
    "",
  ]);
});

test("a repository without commits gets its first one on the branch", async () => {
  using place = shadowWorkspace();
  userGit(place.source, "init", "--quiet", "--initial-branch=main");
  const from = await place.keep();
  writeFileSync(place.path("a"), "1\n");
  const to = await place.keep(from.commit);
  const request = { from: from.commit, to: to.commit, message: "m" };
  // It would be checked out from then on.
  await expect(place.workspace.exportBranch({ ...request, branch: "main" })).rejects.toMatchObject({
    code: "workspace_conflict",
  });
  await place.workspace.exportBranch({ ...request, branch: "work" });
  expect(userGit(place.source, "log", "--format=%s", "work")).toBe("m\n");
  expect(userGit(place.source, "status", "--porcelain")).toBe("");
});

test("without a repository there is no branch", async () => {
  using place = shadowWorkspace();
  const { commit } = await place.keep();
  const request = { from: commit, to: commit, branch: "work", message: "m" };
  await expect(place.workspace.exportBranch(request)).rejects.toMatchObject({
    code: "workspace_invalid",
    message: expect.stringContaining("not in a git repository"),
  });
  rmSync(place.source, { recursive: true });
  await expect(place.workspace.exportBranch(request)).rejects.toMatchObject({ code: "workspace_invalid" });
});

test("no branch is made when nothing of what changed belongs on it", async () => {
  using place = shadowWorkspace({ source: "host/sub" });
  const top = join(place.root, "host");
  userGit(top, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(top, ".gitignore"), "*.log\n");
  userGit(top, "add", "-A");
  userGit(top, "commit", "--quiet", "-m", "first");
  const from = await place.keep();
  const request = { from: from.commit, branch: "work", message: "m" };
  const nothing = { code: "not_found", message: expect.stringContaining("Nothing to export") as string };
  await expect(place.workspace.exportBranch({ ...request, to: from.commit })).rejects.toMatchObject(nothing);
  writeFileSync(place.path("a.log"), "1\n");
  const to = await place.keep(from.commit);
  await expect(place.workspace.exportBranch({ ...request, to: to.commit })).rejects.toMatchObject({
    ...nothing,
    data: { skipped: ["a.log"] },
  });
  expect(userGit(top, "branch", "--format=%(refname:short)").trim()).toBe("main");
});

test("submodules keep what they point to", async () => {
  using place = shadowWorkspace();
  withRepository(place);
  const commit = userGit(place.source, "rev-parse", "HEAD").trim();
  userGit(place.source, "update-index", "--add", "--cacheinfo", `160000,${commit},module`);
  userGit(place.source, "commit", "--quiet", "-m", "module");
  mkdirSync(place.path("module"));
  writeFileSync(place.path("module/x"), "1\n");
  const from = await place.keep();
  writeFileSync(place.path("module/x"), "2\n");
  writeFileSync(place.path("a"), "2\n");
  const to = await place.keep(from.commit);
  const made = await place.workspace.exportBranch({ from: from.commit, to: to.commit, branch: "work", message: "m" });
  expect(made.skipped).toEqual(["module/x"]);
  expect(userGit(place.source, "diff", "--name-only", "main", "work")).toBe("a\n");
});

test("in the session's own worktree the branch moves, and its files are clean", async () => {
  using place = shadowWorkspace({ kind: "worktree", cwd: "sessions/sesn_one/files" });
  rmSync(place.cwd, { recursive: true });
  userGit(place.source, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(place.source, ".gitignore"), "*.log\n");
  for (const name of ["a", "b", "c"]) writeFileSync(join(place.source, name), "1\n");
  userGit(place.source, "add", "-A");
  userGit(place.source, "commit", "--quiet", "-m", "first");
  userGit(place.source, "worktree", "add", "--quiet", "-b", "capstan/sesn_one", place.cwd);
  const main = treeOf(place.source);
  const from = await place.keep();
  writeFileSync(place.path("a"), "2\n");
  rmSync(place.path("b"));
  writeFileSync(place.path("new"), "1\n");
  writeFileSync(place.path("x.log"), "ignored\n");
  const to = await place.keep(from.commit);
  writeFileSync(place.path("c"), "after the export's checkpoint\n");
  const made = await place.workspace.exportBranch({
    from: from.commit,
    to: to.commit,
    branch: "capstan/sesn_one",
    message: "m",
  });
  expect(userGit(place.cwd, "rev-parse", "HEAD").trim()).toBe(made.commit);
  expect(userGit(place.cwd, "status", "--porcelain")).toBe(" M c\n");
  expect(userGit(place.source, "status", "--porcelain")).toBe("");
  expect(userGit(place.source, "rev-parse", "--abbrev-ref", "HEAD").trim()).toBe("main");
  expect(treeOf(place.source)).toEqual(main);
  // Another branch leaves the worktree alone.
  await place.workspace.exportBranch({ from: from.commit, to: to.commit, branch: "beside", message: "m" });
  expect(userGit(place.cwd, "status", "--porcelain")).toBe(" M c\n");
  expect(existsSync(join(place.source, ".git/index.lock"))).toBe(false);
});
