import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ShadowWorkspace, shadowWorkspace, userGit } from "./shadow-workspace.ts";

beforeEach(() => vi.stubEnv("HOME", "/nonexistent"));
afterEach(() => vi.unstubAllEnvs());

const OWN = "sessions/sesn_one/files";

function commitAll(directory: string, ...init: readonly string[]): void {
  userGit(directory, "init", "--quiet", "--initial-branch=main", ...init);
  userGit(directory, "add", "-A");
  userGit(directory, "commit", "--quiet", "-m", "first");
}

/** A repository, and a worktree of it for the session. */
function worktreePlace(...init: readonly string[]): ShadowWorkspace {
  const place = shadowWorkspace({ kind: "worktree", cwd: OWN });
  for (const name of ["a", "b"]) writeFileSync(join(place.source, name), "1\n");
  commitAll(place.source, ...init);
  rmSync(place.cwd, { recursive: true });
  userGit(place.source, "worktree", "add", "--quiet", "-b", "capstan/sesn_one", place.cwd);
  return place;
}

const changed = (place: ShadowWorkspace, branch: string): string =>
  userGit(place.source, "diff", "--name-status", "--no-renames", "main", branch);

test("what is left out of a checkpoint is skipped and named, not deleted", async () => {
  using place = shadowWorkspace({ settings: { max_file_bytes: 1_000 } });
  for (const name of ["a", "b"]) writeFileSync(join(place.source, name), "1\n");
  commitAll(place.source);
  cpSync(place.source, place.cwd, { recursive: true, filter: (path) => !path.endsWith(".git") });
  const from = await place.keep();
  writeFileSync(place.path("a"), "x".repeat(2_000));
  writeFileSync(place.path("b"), "2\n");
  const to = await place.keep(from.commit);
  const range = { from: from.commit, to: to.commit };
  const made = await place.workspace.exportBranch({ ...range, branch: "work", message: "m" });
  expect(made.skipped).toEqual(["a"]);
  expect(changed(place, "work")).toBe("M\tb\n");
});

test.for(["commondir", "config.worktree", "filter"])("no program of the agent's runs: %s", async (way) => {
  using place = worktreePlace();
  const trace = join(place.root, "ran");
  const program = `touch ${trace}; cat`;
  const gitDirectory = userGit(place.cwd, "rev-parse", "--absolute-git-dir").trim();
  const from = await place.keep();
  if (way === "commondir") {
    const evil = join(place.root, "evil");
    cpSync(join(place.source, ".git"), evil, { recursive: true });
    userGit(evil, "config", "filter.x.clean", program);
    writeFileSync(join(gitDirectory, "commondir"), `${evil}\n`);
  } else if (way === "config.worktree") {
    userGit(place.source, "config", "extensions.worktreeConfig", "true");
    writeFileSync(join(gitDirectory, "config.worktree"), `[filter "x"]\n\tclean = "${program}"\n`);
  } else userGit(place.source, "config", "filter.x.clean", program);
  writeFileSync(place.path(".gitattributes"), "* filter=x\n");
  writeFileSync(place.path("a"), "2\n");
  const to = await place.keep(from.commit);
  const request = { from: from.commit, to: to.commit, branch: "capstan/sesn_one", message: "m" };
  await place.workspace.exportBranch(request);
  expect(existsSync(trace)).toBe(false);
  expect(changed(place, "capstan/sesn_one")).toBe("A\t.gitattributes\nM\ta\n");
});

test("an index of the worktree that is a link is not written through", async () => {
  using place = worktreePlace();
  const index = join(userGit(place.cwd, "rev-parse", "--absolute-git-dir").trim(), "index");
  const from = await place.keep();
  writeFileSync(place.path("a"), "2\n");
  const to = await place.keep(from.commit);
  rmSync(index);
  symlinkSync(join(place.root, "elsewhere"), index);
  const request = { from: from.commit, to: to.commit, branch: "capstan/sesn_one", message: "m" };
  await place.workspace.exportBranch(request);
  expect(existsSync(join(place.root, "elsewhere"))).toBe(false);
});

test("mounts say where a file stands in the repository", async () => {
  using place = shadowWorkspace();
  const outside = join(place.root, "outside");
  for (const directory of [outside, join(place.source, "pkg"), join(place.source, "fixed")]) mkdirSync(directory);
  for (const file of ["package.json", "pkg/package.json", "fixed/f"]) writeFileSync(join(place.source, file), "1\n");
  commitAll(place.source);
  for (const directory of ["fixed", "other"]) mkdirSync(place.path(directory));
  for (const file of ["package.json", "fixed/f", "other/o"]) writeFileSync(place.path(file), "1\n");
  const from = await place.keep();
  for (const file of ["package.json", "fixed/f", "other/o"]) writeFileSync(place.path(file), "2\n");
  const to = await place.keep(from.commit);
  const mounts = [
    { source: join(place.source, "pkg"), target: ".", readOnly: false },
    { source: join(place.source, "fixed"), target: "fixed", readOnly: true },
    { source: outside, target: "other", readOnly: false },
  ];
  const request = { from: from.commit, to: to.commit, branch: "work", message: "m", mounts };
  const made = await place.workspace.exportBranch(request);
  expect(made.skipped).toEqual(["fixed/f", "other/o"]);
  expect(changed(place, "work")).toBe("M\tpkg/package.json\n");
});

test("a .git that the agent makes in a directory does not move the files on the branch", async () => {
  using place = shadowWorkspace({ kind: "clone", cwd: join(OWN, "pkg"), source: "host/pkg" });
  for (const file of ["package.json", "pkg/package.json"]) writeFileSync(join(place.root, "host", file), "1\n");
  commitAll(join(place.root, "host"));
  writeFileSync(place.path("package.json"), "1\n");
  const from = await place.keep();
  writeFileSync(place.path("package.json"), "2\n");
  mkdirSync(place.path(".git"));
  const to = await place.keep(from.commit);
  await place.workspace.exportBranch({ from: from.commit, to: to.commit, branch: "work", message: "m" });
  expect(changed(place, "work")).toBe("M\tpkg/package.json\n");
});

test("a repository with longer names of objects gets its branch too", async () => {
  using place = worktreePlace("--object-format=sha256");
  const from = await place.keep();
  rmSync(place.path("a"));
  writeFileSync(place.path("new"), "1\n");
  const to = await place.keep(from.commit);
  for (const branch of ["capstan/sesn_one", "beside"]) {
    await place.workspace.exportBranch({ from: from.commit, to: to.commit, branch, message: "m" });
    expect(changed(place, branch)).toBe("D\ta\nA\tnew\n");
  }
  expect(userGit(place.cwd, "status", "--porcelain")).toBe("");
});

test("a zip file is written where the host works, not in the workspace", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  const { commit } = await place.keep();
  const file = relative(process.cwd(), join(place.root, "out.zip"));
  expect(isAbsolute(file)).toBe(false);
  await place.workspace.exportZip(commit, file);
  expect(existsSync(join(place.root, "out.zip"))).toBe(true);
});
