import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shadowWorkspace, treeOf, userGit } from "./shadow-workspace.ts";

test("a checkpoint is taken when something has changed, and says what", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  writeFileSync(place.path("b"), "1\n");
  const first = await place.keep();
  expect(first).toMatchObject({ added: 2, modified: 0, deleted: 0, leftOut: [] });
  expect(await place.workspace.checkpoint(first.commit)).toBeUndefined();
  expect(await place.open().checkpoint(first.commit)).toBeUndefined();
  writeFileSync(place.path("a"), "2\n");
  rmSync(place.path("b"));
  mkdirSync(place.path("d"));
  writeFileSync(place.path("d/c"), "");
  expect(await place.open().checkpoint(first.commit)).toMatchObject({ added: 1, modified: 1, deleted: 1 });
});

test("an empty workspace has checkpoints too", async () => {
  using place = shadowWorkspace();
  const empty = await place.keep();
  expect(await place.workspace.checkpoint(empty.commit)).toBeUndefined();
  writeFileSync(place.path("a"), "");
  const one = await place.keep(empty.commit);
  await place.workspace.restore(empty.commit, one.commit);
  expect(treeOf(place.cwd)).toEqual(new Map());
});

test("files that were only touched are no change", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  const { commit } = await place.keep();
  utimesSync(place.path("a"), 5, 5);
  copyFileSync(place.path("a"), place.path("aside"));
  renameSync(place.path("aside"), place.path("a"));
  expect(await place.workspace.checkpoint(commit)).toBeUndefined();
});

test("a change is seen that leaves size and time as they were, in the second in which the file was kept", async () => {
  using place = shadowWorkspace();
  const past = new Date("2020-01-01T00:00:00Z");
  let last: string | undefined;
  for (const content of ["1\n", "2\n", "3\n", "4\n"]) {
    writeFileSync(place.path("a"), content);
    utimesSync(place.path("a"), past, past);
    const taken = await place.keep(last);
    last = taken.commit;
    expect(userGit(place.repository, "show", `${last}:files/a`)).toBe(content);
  }
});

test("a change of permissions alone is kept, also in the second in which the file was kept", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  chmodSync(place.path("a"), 0o644);
  let last = (await place.keep()).commit;
  const first = last;
  for (const mode of [0o600, 0o4755, 0o444, 0o644, 0o640]) {
    chmodSync(place.path("a"), mode);
    const taken = await place.keep(last);
    expect(taken).toMatchObject({ added: 0, modified: 1, deleted: 0 });
    expect(await place.workspace.diff({ from: last, to: taken.commit })).toMatchObject([
      { path: "a", kind: "modified" },
    ]);
    last = taken.commit;
  }
  await place.workspace.restore(first, last);
  expect(statSync(place.path("a")).mode & 0o7777).toBe(0o644);
});

test("what the workspace says to git about itself changes nothing", async () => {
  using place = shadowWorkspace();
  const rules = ["eol=crlf text=auto", "ident", "filter=lower", "working-tree-encoding=UTF-16", "export-ignore -diff"];
  for (const [number, rule] of rules.entries()) {
    mkdirSync(place.path(`d${number}`));
    writeFileSync(place.path(`d${number}/.gitattributes`), `* ${rule}\n`);
    writeFileSync(place.path(`d${number}/.gitignore`), "*\n");
    writeFileSync(place.path(`d${number}/file`), "a\r\nb\n$Id$\n$Id: 1 $\n\u{1F6A2}");
  }
  writeFileSync(place.path(".gitmodules"), '[submodule "d0"]\n\tpath = d0\n\turl = /nowhere\n');
  const before = treeOf(place.cwd);
  const { commit } = await place.keep();
  for (const number of rules.keys()) writeFileSync(place.path(`d${number}/file`), "other\n");
  const current = await place.keep(commit);
  const changed = await place.workspace.diff({ from: commit, to: current.commit });
  expect(changed).toHaveLength(rules.length);
  expect(changed.every(({ insertions }) => insertions === 1)).toBe(true);
  await place.workspace.restore(commit, current.commit);
  expect(treeOf(place.cwd)).toEqual(before);
  await place.workspace.exportZip(commit, join(place.root, "out.zip"));
  for (const [path, described] of before)
    expect(readFileSync(join(place.root, "out.zip")).includes(path), described).toBe(true);
});

test("repositories within the workspace are kept, without what git has about them", async () => {
  using place = shadowWorkspace();
  for (const repository of ["empty", "with", "with/inner", "alone/deep"]) {
    mkdirSync(place.path(repository), { recursive: true });
    userGit(place.path(repository), "init", "--quiet");
  }
  writeFileSync(place.path("with/committed"), "1\n");
  userGit(place.path("with"), "add", "committed");
  userGit(place.path("with"), "commit", "--quiet", "-m", "first");
  for (const file of ["with/new", "with/inner/deep", "alone/deep/x"]) writeFileSync(place.path(file), "1\n");
  mkdirSync(place.path("with/node_modules"));
  writeFileSync(place.path("with/node_modules/left-out"), "");
  const before = treeOf(place.cwd);
  const gitDirectory = treeOf(place.path("with/.git"), []);
  const { commit, added } = await place.keep();
  expect(added).toBe(4);
  for (const file of before.keys()) writeFileSync(place.path(file), "2\n");
  rmSync(place.path("alone"), { recursive: true });
  const current = await place.keep(commit);
  await place.workspace.restore(commit, current.commit);
  expect(treeOf(place.cwd)).toEqual(before);
  expect(treeOf(place.path("with/.git"), [])).toEqual(gitDirectory);
});

test("the user's own repository stays byte for byte", async () => {
  using place = shadowWorkspace({ kind: "in-place" });
  userGit(place.cwd, "init", "--quiet");
  writeFileSync(place.path(".gitignore"), "*.log\n");
  writeFileSync(place.path("a"), "1\n");
  userGit(place.cwd, "add", "a");
  userGit(place.cwd, "commit", "--quiet", "-m", "first");
  writeFileSync(place.path("a"), "2\n");
  userGit(place.cwd, "add", "a");
  writeFileSync(place.path("debug.log"), "ignored, and kept\n");
  const before = treeOf(place.path(".git"), []);
  const { commit } = await place.keep();
  rmSync(place.path("debug.log"));
  writeFileSync(place.path("a"), "3\n");
  const current = await place.keep(commit);
  await place.workspace.diff({ from: commit });
  await place.workspace.restore(commit, current.commit);
  expect(treeOf(place.path(".git"), [])).toEqual(before);
  expect(readFileSync(place.path("debug.log"), "utf8")).toBe("ignored, and kept\n");
});

test("names come back byte for byte, whatever is in them", async () => {
  using place = shadowWorkspace();
  const names = [
    "new\nline",
    'quo"te',
    "-dash",
    "tab\t",
    " space ",
    "back\\slash",
    "*",
    "[x]",
    ":(top)x",
    "é",
    "#x",
    "!y",
  ];
  for (const name of names) writeFileSync(place.path(name), name);
  writeFileSync(Buffer.concat([Buffer.from(`${place.cwd}/`), Buffer.from([0xff, 0x80, 0x41])]), "not UTF-8");
  for (const name of names) chmodSync(place.path(name), 0o600);
  const before = treeOf(place.cwd);
  const { commit } = await place.keep();
  rmSync(place.cwd, { recursive: true });
  mkdirSync(place.cwd);
  const current = await place.keep(commit);
  const shown = (await place.workspace.diff({ from: commit, to: current.commit })).map(({ path }) => path);
  expect(shown.toSorted()).toEqual([...names, "\uFFFD\uFFFDA"].toSorted());
  await place.workspace.restore(commit, current.commit);
  expect(treeOf(place.cwd)).toEqual(before);
});

test("what cannot be kept is named, and the rest is kept", async () => {
  using place = shadowWorkspace({ settings: { max_file_bytes: 1_000 } });
  writeFileSync(place.path("small"), "1\n");
  writeFileSync(place.path("large"), "x".repeat(1_001));
  mkdirSync(place.path(".GIT"));
  writeFileSync(place.path(".GIT/x"), "");
  symlinkSync("/etc", place.path(".gitmodules"));
  writeFileSync(place.path("pipe"), "");
  const first = await place.keep();
  expect(first.added).toBe(2);
  expect(first.leftOut.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual([
    { path: ".GIT/x", why: "a name git cannot keep" },
    { path: ".gitmodules", why: "a name git cannot keep" },
    { path: "large", why: "too large" },
  ]);
  rmSync(place.path("pipe"));
  userGit(place.cwd, "-c", "alias.pipe=!mkfifo", "pipe", place.path("pipe"));
  writeFileSync(place.path("small"), "x".repeat(2_000));
  const second = await place.keep(first.commit);
  expect(second).toMatchObject({ added: 0, deleted: 2 });
  expect(second.leftOut).toContainEqual({ path: "pipe", why: "not a file" });
  expect(second.leftOut).toContainEqual({ path: "small", why: "too large" });
});

test("a file of 5 GB is left out without being read", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  writeFileSync(place.path("huge"), "");
  truncateSync(place.path("huge"), 5 * 1024 ** 3);
  expect(await place.keep()).toMatchObject({ added: 1, leftOut: [{ path: "huge", why: "too large" }] });
});

test("what is excluded is not kept, also when that is said only later", async () => {
  using place = shadowWorkspace();
  mkdirSync(place.path("node_modules"));
  mkdirSync(place.path("cache"));
  for (const file of ["a", "node_modules/x", "cache/y"]) writeFileSync(place.path(file), "1\n");
  const first = await place.keep();
  expect(first.added).toBe(2);
  const later = await place.open({ exclude: ["cache/"] }).checkpoint(first.commit);
  expect(later).toMatchObject({ added: 1, deleted: 1 });
});

test("a large first checkpoint is one file on the disk, not one for each", async () => {
  using place = shadowWorkspace();
  for (let number = 0; number < 300; number += 1) writeFileSync(place.path(`${number}`), `${number}\n`);
  const { commit } = await place.keep();
  const objects = readdirSync(join(place.repository, "objects"), { recursive: true, withFileTypes: true });
  expect(objects.filter((entry) => entry.isFile()).length).toBeLessThan(20);
  for (let number = 0; number < 300; number += 1) writeFileSync(place.path(`${number}`), "changed\n");
  const current = await place.keep(commit);
  await place.workspace.restore(commit, current.commit);
  expect(readFileSync(place.path("299"), "utf8")).toBe("299\n");
});

test("nobody else may read the checkpoints", async () => {
  using place = shadowWorkspace();
  await place.keep();
  expect(statSync(place.repository).mode & 0o777).toBe(0o700);
});

test("git finds nothing wrong with what was written", async () => {
  using place = shadowWorkspace();
  mkdirSync(place.path("a.b"));
  mkdirSync(place.path("a"));
  for (const file of ["a.b/x", "a/y", "a0", "z"]) writeFileSync(place.path(file), "1\n", { mode: 0o600 });
  const first = await place.keep();
  chmodSync(place.path("a/y"), 0o644);
  await place.keep(first.commit);
  expect(userGit(place.repository, "fsck", "--full", "--strict")).toBe("");
  expect(userGit(place.repository, "rev-list", "--count", "refs/capstan/checkpoints").trim()).toBe("2");
});
