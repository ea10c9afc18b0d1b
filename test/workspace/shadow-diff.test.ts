import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shadowWorkspace, treeOf, userGit } from "./shadow-workspace.ts";

test("what changed is listed by path, with lines for text", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("text"), "1\n2\n3\n");
  writeFileSync(place.path("binary"), "\0one");
  writeFileSync(place.path("gone"), "1\n");
  writeFileSync(place.path("mode"), "1\n");
  const { commit } = await place.keep();
  writeFileSync(place.path("text"), "1\n2 changed\n3\n4\n");
  writeFileSync(place.path("binary"), "\0two");
  rmSync(place.path("gone"));
  chmodSync(place.path("mode"), 0o600);
  writeFileSync(place.path("added"), "1\n");
  const expected = [
    { path: "added", kind: "added", insertions: 1, deletions: 0 },
    { path: "binary", kind: "modified" },
    { path: "gone", kind: "deleted", insertions: 0, deletions: 1 },
    { path: "mode", kind: "modified", insertions: 0, deletions: 0 },
    { path: "text", kind: "modified", insertions: 2, deletions: 1 },
  ];
  expect(await place.workspace.diff({ from: commit })).toEqual(expected);
  // Looking is no checkpoint.
  expect(userGit(place.repository, "rev-list", "--count", "refs/capstan/checkpoints").trim()).toBe("1");
  const current = await place.keep(commit);
  expect(await place.workspace.diff({ from: commit, to: current.commit })).toEqual(expected);
  expect(await place.workspace.diff({ from: commit, to: commit })).toEqual([]);
});

test("git can apply the patch, binary files included", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("text"), "1\r\n2\n");
  writeFileSync(place.path("binary"), "\0one");
  writeFileSync(place.path(".gitattributes"), "* eol=crlf -diff\n");
  const { commit } = await place.keep();
  const copy = join(place.root, "copy");
  execFileSync("cp", ["-a", place.cwd, copy]);
  writeFileSync(place.path("text"), "1\r\n2 changed\n");
  writeFileSync(place.path("binary"), "\0two");
  mkdirSync(place.path("d"));
  writeFileSync(place.path('d/odd"\nname'), "1\n");
  symlinkSync("text", place.path("link"));
  const patch = await place.workspace.patch({ from: commit });
  writeFileSync(join(place.root, "patch"), patch);
  rmSync(join(copy, ".gitattributes"));
  userGit(copy, "apply", join(place.root, "patch"));
  writeFileSync(join(copy, ".gitattributes"), "* eol=crlf -diff\n");
  expect(treeOf(copy)).toEqual(treeOf(place.cwd));
});

test("others may look while checkpoints are taken", async () => {
  using place = shadowWorkspace();
  for (let number = 0; number < 50; number += 1) writeFileSync(place.path(`${number}`), "1\n");
  const { commit } = await place.keep();
  let last = commit;
  const watcher = place.open();
  for (let round = 0; round < 5; round += 1) {
    writeFileSync(place.path(`${round}`), `changed ${round}\n`, { mode: 0o600 });
    const [taken, seen, own] = await Promise.all([
      place.workspace.checkpoint(last),
      watcher.diff({ from: commit }),
      place.workspace.diff({ from: commit }),
    ]);
    expect(seen).toHaveLength(round + 1);
    expect(own).toHaveLength(round + 1);
    expect(taken).toMatchObject({ modified: 1 });
    last = taken?.commit ?? last;
  }
});

const ODD = [
  "grün & größer.txt",
  'say "hi".txt',
  "tab\there",
  "back\\slash",
  "*",
  "[a]b?",
  ":(glob)x",
  " lead",
  "日本/語 1",
];

test("of one file, whatever it is called, the patch is its own, and git can apply it", async () => {
  using place = shadowWorkspace();
  mkdirSync(place.path("日本"));
  for (const name of [...ODD, "ab", "other"]) writeFileSync(place.path(name), "1\n");
  const { commit } = await place.keep();
  const copy = join(place.root, "copy");
  execFileSync("cp", ["-a", place.cwd, copy]);
  for (const name of [...ODD, "ab", "other"]) writeFileSync(place.path(name), `2 ${name}\n`);
  for (const name of ODD) {
    const patch = await place.workspace.patch({ from: commit }, name);
    expect(patch.toString().match(/^diff --git/gm), name).toHaveLength(1);
    expect(patch.toString(), name).toContain(`+2 ${name}\n`);
    writeFileSync(join(place.root, "patch"), patch);
    userGit(copy, "apply", join(place.root, "patch"));
  }
  expect(await place.workspace.patch({ from: commit }, "日本")).toHaveLength(0);
  expect(await place.workspace.patch({ from: commit }, "../other")).toHaveLength(0);
  expect(await place.workspace.patch({ from: commit }, "日本/語 1/")).toHaveLength(0);
  for (const name of ["ab", "other"]) writeFileSync(join(copy, name), `2 ${name}\n`);
  expect(treeOf(copy)).toEqual(treeOf(place.cwd));
});

test("names are in a patch as they are, but for those that git must quote", async () => {
  using place = shadowWorkspace();
  const { commit } = await place.keep();
  for (const name of ["grün", 'q"', "t\tt"]) writeFileSync(place.path(name), "1\n");
  const patch = (await place.workspace.patch({ from: commit })).toString();
  expect(patch.match(/^\+\+\+ .*/gm)).toEqual(["+++ b/grün", String.raw`+++ "b/q\""`, String.raw`+++ "b/t\tt"`]);
});

test("a file that became a directory is told without what is in that, and the other way round", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("x"), "a file\n");
  const { commit } = await place.keep();
  rmSync(place.path("x"));
  mkdirSync(place.path("x"));
  writeFileSync(place.path("x/secret"), "inside\n");
  const { commit: after } = await place.keep(commit);
  const there = (await place.workspace.patch({ from: commit, to: after }, "x")).toString();
  const back = (await place.workspace.patch({ from: after, to: commit }, "x")).toString();
  expect(there).toContain("-a file");
  expect(back).toContain("+a file");
  expect(there + back).not.toContain("inside");
  expect((await place.workspace.patch({ from: commit, to: after }, "x/secret")).toString()).toContain("+inside");
});
