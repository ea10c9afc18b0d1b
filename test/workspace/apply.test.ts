import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ApplyOutcome, ApplyRequest } from "../../src/core/ports/workspace.ts";
import { type ShadowWorkspace, shadowWorkspace, treeOf } from "./shadow-workspace.ts";

/** Host and workspace start alike; then the agent works, and maybe the user too. */
async function applyChanges(
  place: ShadowWorkspace,
  { agent, user = () => {}, ...request }: { agent: () => void; user?: () => void } & Partial<ApplyRequest>,
): Promise<ApplyOutcome> {
  cpSync(place.cwd, place.source, { recursive: true, verbatimSymlinks: true });
  const from = await place.keep();
  agent();
  const to = await place.keep(from.commit);
  user();
  return place.workspace.apply({ from: from.commit, to: to.commit, mounts: [], dryRun: false, ...request });
}

test("what changed is written to where it came from: contents, permissions, links, deletions", async () => {
  using place = shadowWorkspace();
  mkdirSync(place.path("d"));
  for (const file of ["same", "text", "gone", "tool", "d/gone"]) writeFileSync(place.path(file), "1\n");
  const host = (name: string): string => join(place.source, name);
  const outcome = await applyChanges(place, {
    agent() {
      writeFileSync(place.path("text"), "2\r\n");
      rmSync(place.path("gone"));
      rmSync(place.path("d"), { recursive: true });
      chmodSync(place.path("tool"), 0o750);
      mkdirSync(place.path("new/deep"), { recursive: true });
      writeFileSync(place.path("new/deep/secret"), "s\n", { mode: 0o600 });
      symlinkSync("../text", place.path("new/link"));
      writeFileSync(place.path('odd"\nname'), "o\n");
    },
    user() {
      writeFileSync(host("same"), "the user's own\n");
      chmodSync(host("text"), 0o640);
    },
  });
  expect(outcome.conflicts).toEqual([]);
  expect(outcome.applied).toContainEqual({ path: host("text"), how: "written" });
  expect(outcome.applied).toContainEqual({ path: host("gone"), how: "deleted" });
  expect(treeOf(place.source)).toEqual(
    new Map([
      ["new/deep/secret", "600 s\n"],
      ["new/link", "link ../text"],
      ['odd"\nname', "644 o\n"],
      ["same", "644 the user's own\n"],
      // The agent did not change its permissions, the user did.
      ["text", "640 2\r\n"],
      ["tool", "750 1\n"],
    ]),
  );
  expect(existsSync(host("d"))).toBe(false);
});

test("a dry run tells the same and writes nothing", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  const outcome = await applyChanges(place, { agent: () => writeFileSync(place.path("a"), "2\n"), dryRun: true });
  expect(outcome).toEqual({ applied: [{ path: join(place.source, "a"), how: "written" }], conflicts: [] });
  expect(readFileSync(join(place.source, "a"), "utf8")).toBe("1\n");
});

test("changes of both sides in one file are merged, and a repetition finds it done", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n2\n3\n4\n5\n6\n7\n");
  cpSync(place.cwd, place.source, { recursive: true });
  const from = await place.keep();
  writeFileSync(place.path("a"), "agent\n2\n3\n4\n5\n6\n7\n");
  writeFileSync(place.path("new"), "1\n");
  const to = await place.keep(from.commit);
  writeFileSync(join(place.source, "a"), "1\n2\n3\n4\n5\n6\nuser\n");
  const request = { from: from.commit, to: to.commit, mounts: [], dryRun: false };
  const first = await place.workspace.apply(request);
  expect(first.applied.map(({ how }) => how).toSorted()).toEqual(["merged", "written"]);
  expect(readFileSync(join(place.source, "a"), "utf8")).toBe("agent\n2\n3\n4\n5\n6\nuser\n");
  const second = await place.workspace.apply(request);
  expect(second.applied.map(({ how }) => how)).toEqual(["already", "already"]);
});

test.for<{
  what: string;
  agent: (path: (name: string) => string) => void;
  user: (path: (name: string) => string) => void;
  why: RegExp;
}>([
  {
    what: "both changed the same lines",
    agent: (at) => writeFileSync(at("a"), "agent\n"),
    user: (at) => writeFileSync(at("a"), "user\n"),
    why: /changed on the host too/,
  },
  {
    what: "both changed what is not text",
    agent: (at) => writeFileSync(at("a"), "\0agent"),
    user: (at) => writeFileSync(at("a"), "\0user"),
    why: /changed on the host too/,
  },
  {
    what: "deleted here, changed there",
    agent: (at) => rmSync(at("a")),
    user: (at) => writeFileSync(at("a"), "user\n"),
    why: /changed on the host and deleted here/,
  },
  {
    what: "changed here, deleted there",
    agent: (at) => writeFileSync(at("a"), "agent\n"),
    user: (at) => rmSync(at("a")),
    why: /deleted on the host/,
  },
  {
    what: "both made it",
    agent: (at) => writeFileSync(at("new"), "agent\n"),
    user: (at) => writeFileSync(at("new"), "user\n"),
    why: /another file of that name/,
  },
  {
    what: "a directory there",
    agent: (at) => writeFileSync(at("new"), "agent\n"),
    user(at) {
      mkdirSync(at("new"));
      writeFileSync(at("new/x"), "");
    },
    why: /is a directory/,
  },
  {
    what: "a file where the directory should be",
    agent(at) {
      mkdirSync(at("new"));
      writeFileSync(at("new/x"), "agent\n");
    },
    user: (at) => writeFileSync(at("new"), "user\n"),
    why: /new is not a directory/,
  },
  {
    what: "a link made of it",
    agent: (at) => writeFileSync(at("a"), "agent\n"),
    user(at) {
      rmSync(at("a"));
      symlinkSync("/etc/passwd", at("a"));
    },
    why: /changed on the host too/,
  },
])("one conflict, and nothing is written: $what", async ({ agent, user, why }) => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  writeFileSync(place.path("other"), "1\n");
  let before = new Map<string, string>();
  const outcome = await applyChanges(place, {
    agent() {
      writeFileSync(place.path("other"), "2\n");
      agent(place.path);
    },
    user() {
      user((name) => join(place.source, name));
      before = treeOf(place.source);
    },
  });
  expect(outcome.applied).toEqual([]);
  expect(outcome.conflicts).toMatchObject([{ why: expect.stringMatching(why) }]);
  expect(treeOf(place.source)).toEqual(before);
});

test("directories become files and files become directories", async () => {
  using place = shadowWorkspace();
  mkdirSync(place.path("d/e"), { recursive: true });
  for (const file of ["d/e/x", "d/y", "f"]) writeFileSync(place.path(file), "1\n");
  const outcome = await applyChanges(place, {
    agent() {
      rmSync(place.path("d"), { recursive: true });
      rmSync(place.path("f"));
      writeFileSync(place.path("d"), "a file now\n");
      mkdirSync(place.path("f"));
      writeFileSync(place.path("f/x"), "in a directory now\n");
    },
  });
  expect(outcome.conflicts).toEqual([]);
  expect(treeOf(place.source)).toEqual(treeOf(place.cwd));
});

test.for(["elsewhere", "host/real"])("nothing is written through a link of the host: to %s", async (target) => {
  using place = shadowWorkspace();
  mkdirSync(place.path("d"));
  writeFileSync(place.path("d/x"), "1\n");
  const elsewhere = join(place.root, target);
  const outcome = await applyChanges(place, {
    agent: () => writeFileSync(place.path("d/x"), "2\n"),
    user() {
      mkdirSync(elsewhere);
      writeFileSync(join(elsewhere, "x"), "1\n");
      rmSync(join(place.source, "d"), { recursive: true });
      symlinkSync(elsewhere, join(place.source, "d"));
    },
  });
  expect(outcome.conflicts).toEqual([{ path: "d/x", why: "d is a link on the host" }]);
  expect(readFileSync(join(elsewhere, "x"), "utf8")).toBe("1\n");
});

test("each mount is written to its own source; read-only ones and what is in none are conflicts", async () => {
  using place = shadowWorkspace();
  const [lib, docs, notes] = ["lib", "docs", "notes.txt"].map((name) => join(place.root, name)) as [
    string,
    string,
    string,
  ];
  for (const directory of ["lib", "lib/docs"]) mkdirSync(place.path(directory));
  for (const directory of [lib, docs]) mkdirSync(directory);
  for (const file of ["lib/a", "lib/docs/b", "n.txt"]) writeFileSync(place.path(file), "1\n");
  for (const file of [join(lib, "a"), join(docs, "b"), notes]) writeFileSync(file, "1\n");
  const from = await place.keep();
  for (const file of ["lib/a", "lib/docs/b", "n.txt"]) writeFileSync(place.path(file), "2\n");
  const to = await place.keep(from.commit);
  const mounts = [
    { source: lib, target: "lib", readOnly: false },
    { source: docs, target: "./lib/docs/", readOnly: false },
    { source: notes, target: "n.txt", readOnly: false },
  ];
  const request = { from: from.commit, to: to.commit, dryRun: false };
  const readOnly = mounts.map((mount) => ({ ...mount, readOnly: mount.source === docs }));
  expect(await place.workspace.apply({ ...request, mounts: readOnly })).toEqual({
    applied: [],
    conflicts: [{ path: "lib/docs/b", why: "its mount is read-only" }],
  });
  const partly = await place.workspace.apply({ ...request, mounts: mounts.slice(0, 2) });
  expect(partly.conflicts).toMatchObject([{ path: "n.txt", why: expect.stringContaining("no mount") }]);
  expect((await place.workspace.apply({ ...request, mounts })).conflicts).toEqual([]);
  for (const file of [join(lib, "a"), join(docs, "b"), notes]) expect(readFileSync(file, "utf8")).toBe("2\n");
  expect(existsSync(join(lib, "docs"))).toBe(false);
});

test("what a killed attempt left is finished by the next, and its rubble is gone", async () => {
  using place = shadowWorkspace();
  for (let number = 0; number < 40; number += 1) writeFileSync(place.path(`${number}`), "1\n");
  cpSync(place.cwd, place.source, { recursive: true });
  const from = await place.keep();
  for (let number = 0; number < 40; number += 1) writeFileSync(place.path(`${number}`), "2\n", { mode: 0o600 });
  const to = await place.keep(from.commit);
  const request = { from: from.commit, to: to.commit, mounts: [], dryRun: false };
  await place.runKilled("apply", [request], 150);
  const outcome = await place.workspace.apply(request);
  expect(outcome.applied).toHaveLength(40);
  expect(treeOf(place.source)).toEqual(treeOf(place.cwd));
  expect(readdirSync(place.source)).toHaveLength(40);
});

test("a file that the user changes in the very moment stops it, and it tells what was done", async () => {
  using place = shadowWorkspace();
  for (let number = 10; number < 40; number += 1) writeFileSync(place.path(`${number}`), "1\n");
  cpSync(place.cwd, place.source, { recursive: true });
  const from = await place.keep();
  for (let number = 10; number < 40; number += 1) writeFileSync(place.path(`${number}`), "2\n");
  const to = await place.keep(from.commit);
  const running = place.workspace.apply({ from: from.commit, to: to.commit, mounts: [], dryRun: false });
  const settled = running.then(
    () => undefined,
    (error: unknown) => error,
  );
  while (readFileSync(join(place.source, "10"), "utf8") === "1\n")
    await new Promise((resolve) => setImmediate(resolve));
  writeFileSync(join(place.source, "39"), "user\n");
  expect(await settled).toMatchObject({
    code: "workspace_conflict",
    message: expect.stringMatching(/39: it has just changed on the host.*Applied: .*10.*Not applied: .*39/s),
  });
  expect(readFileSync(join(place.source, "39"), "utf8")).toBe("user\n");
});

test("a session that works in place has nothing to apply, and a source that is gone is named", async () => {
  using inPlace = shadowWorkspace({ kind: "in-place" });
  const { commit } = await inPlace.keep();
  const request = { from: commit, to: commit, mounts: [], dryRun: false };
  await expect(inPlace.workspace.apply(request)).rejects.toMatchObject({
    code: "workspace_invalid",
    message: expect.stringContaining("works in place"),
  });
  using copy = shadowWorkspace();
  const kept = await copy.keep();
  rmSync(copy.source, { recursive: true });
  const nowhere = { ...request, from: kept.commit, to: kept.commit };
  await expect(copy.workspace.apply(nowhere)).rejects.toMatchObject({ code: "workspace_invalid" });
});
