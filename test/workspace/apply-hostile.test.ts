import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ApplyOutcome, ApplyRequest } from "../../src/core/ports/workspace.ts";
import { type ShadowWorkspace, shadowWorkspace, userGit } from "./shadow-workspace.ts";

async function applyChanges(
  place: ShadowWorkspace,
  agent: () => void,
  mounts: ApplyRequest["mounts"] = [],
): Promise<ApplyOutcome> {
  const from = await place.keep();
  agent();
  const to = await place.keep(from.commit);
  return place.workspace.apply({ from: from.commit, to: to.commit, mounts, dryRun: false });
}

test("what is left out of a checkpoint is a conflict, not a deletion, also when it was deleted in between", async () => {
  using place = shadowWorkspace({ settings: { max_file_bytes: 1_000 } });
  for (const name of ["grown", "pipe", "again"]) writeFileSync(place.path(name), "1\n");
  cpSync(place.cwd, place.source, { recursive: true });
  const from = await place.keep();
  rmSync(place.path("again"));
  rmSync(place.path("pipe"));
  userGit(place.cwd, "-c", "alias.pipe=!mkfifo", "pipe", place.path("pipe"));
  writeFileSync(place.path("grown"), "x".repeat(2_000));
  const middle = await place.keep(from.commit);
  // Nothing that a checkpoint could hold changes.
  writeFileSync(place.path("again"), "x".repeat(2_000));
  const to = await place.keep(middle.commit);
  const range = { from: from.commit, to: to.commit };
  const outcome = await place.workspace.apply({ ...range, mounts: [], dryRun: false });
  expect(outcome.applied).toEqual([]);
  expect(outcome.conflicts.map(({ path }) => path).toSorted()).toEqual(["again", "grown", "pipe"]);
  expect(outcome.conflicts[0]?.why).toContain("no longer in any checkpoint");
  for (const name of ["grown", "pipe", "again"]) expect(existsSync(join(place.source, name))).toBe(true);
  for (const end of [to.commit, undefined]) {
    expect(await place.workspace.diff({ from: from.commit, to: end })).toEqual([]);
    expect((await place.workspace.patch({ from: from.commit, to: end })).toString()).toBe("");
  }
});

test.for([
  { target: ".git/hooks", why: /in a \.git directory/ },
  { target: "sub/.GIT/hooks", why: /in a \.git directory/ },
  { target: "hooks", why: /in a \.git directory/ },
  { target: "..", why: /leads out/ },
  { target: "sub/../../elsewhere", why: /leads out/ },
  { target: "/etc", why: /leads out/ },
  { target: "out/x", why: /leads out/ },
  { target: "nowhere/x", why: /leads out/ },
])("a link to $target is not made on the host", async ({ target, why }) => {
  using place = shadowWorkspace();
  userGit(place.source, "init", "--quiet");
  mkdirSync(join(place.source, ".git/hooks"), { recursive: true });
  symlinkSync(".git/hooks", join(place.source, "hooks"));
  symlinkSync("/etc", join(place.source, "out"));
  symlinkSync("/not/there", join(place.source, "nowhere"));
  const outcome = await applyChanges(place, () => symlinkSync(target, place.path("link")));
  expect(outcome.conflicts).toMatchObject([{ path: "link", why: expect.stringMatching(why) }]);
  expect(lstatSync(join(place.source, "link"), { throwIfNoEntry: false })).toBeUndefined();
});

test("links to what lies in the directory are made", async () => {
  using place = shadowWorkspace();
  const outcome = await applyChanges(place, () => {
    mkdirSync(place.path("d/e"), { recursive: true });
    symlinkSync("../../a", place.path("d/e/up"));
    symlinkSync("d/e", place.path("down"));
    symlinkSync(join(place.source, "d"), place.path("absolute"));
    symlinkSync(".", place.path("here"));
  });
  expect(outcome.conflicts).toEqual([]);
  expect(outcome.applied).toHaveLength(4);
});

test("nothing gets into a .git directory, through a linked directory or by a mount", async () => {
  using place = shadowWorkspace();
  userGit(place.source, "init", "--quiet");
  const hooks = join(place.source, ".git/hooks");
  mkdirSync(hooks, { recursive: true });
  symlinkSync(".git/hooks", join(place.source, "x"));
  const hook = (): void => {
    mkdirSync(place.path("x"), { recursive: true });
    writeFileSync(place.path("x/post-checkout"), "#!/bin/sh\n", { mode: 0o755 });
  };
  const linked = await applyChanges(place, hook);
  expect(linked.conflicts).toMatchObject([{ path: "x/post-checkout", why: "x is a link on the host" }]);
  rmSync(place.path("x"), { recursive: true });
  const mounted = await applyChanges(place, hook, [{ source: hooks, target: "x", readOnly: false }]);
  expect(mounted.conflicts).toMatchObject([{ path: "x/post-checkout", why: "it is in a .git directory" }]);
  expect(existsSync(join(hooks, "post-checkout"))).toBe(false);
});

test("a file gets no permission to run as somebody else", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("old"), "1\n");
  cpSync(place.cwd, place.source, { recursive: true });
  const outcome = await applyChanges(place, () => {
    writeFileSync(place.path("new"), "#!/bin/sh\n");
    chmodSync(place.path("new"), 0o6777);
    chmodSync(place.path("old"), 0o4755);
  });
  expect(outcome.conflicts).toEqual([]);
  const modeOf = (name: string): string => (statSync(join(place.source, name)).mode & 0o7777).toString(8);
  expect([modeOf("new"), modeOf("old")]).toEqual(["777", "755"]);
});

test("what lies in the source of a read-only mount is not written through another one", async () => {
  using place = shadowWorkspace();
  for (const directory of ["lib", "lib/out"]) mkdirSync(join(place.source, directory));
  writeFileSync(join(place.source, "lib/x"), "1\n");
  const mounts = [
    { source: join(place.source, "lib"), target: "vendor", readOnly: true },
    { source: place.source, target: ".", readOnly: false },
    { source: join(place.source, "lib/out"), target: "out", readOnly: false },
  ];
  const through = await applyChanges(
    place,
    () => {
      mkdirSync(place.path("lib"));
      writeFileSync(place.path("lib/x"), "2\n");
    },
    mounts,
  );
  expect(through.conflicts).toEqual([{ path: "lib/x", why: "its mount is read-only" }]);
  expect(readFileSync(join(place.source, "lib/x"), "utf8")).toBe("1\n");
  // A mount of its own within it may be written.
  rmSync(place.path("lib"), { recursive: true });
  const within = await applyChanges(
    place,
    () => {
      mkdirSync(place.path("out"));
      writeFileSync(place.path("out/y"), "1\n");
    },
    mounts,
  );
  expect(within.conflicts).toEqual([]);
  expect(existsSync(join(place.source, "lib/out/y"))).toBe(true);
});
