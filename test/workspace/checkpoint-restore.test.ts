import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shadowWorkspace, treeOf, userGit } from "./shadow-workspace.ts";

test("only what differs is written", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("same"), "1\n");
  writeFileSync(place.path("other"), "1\n");
  const first = await place.keep();
  writeFileSync(place.path("other"), "2\n");
  utimesSync(place.path("same"), 5, 5);
  const current = await place.keep(first.commit);
  await place.workspace.restore(first.commit, current.commit);
  expect(statSync(place.path("same")).mtimeMs).toBe(5_000);
  expect(readFileSync(place.path("other"), "utf8")).toBe("1\n");
});

test("a restore can be undone, and undone again", async () => {
  using place = shadowWorkspace();
  mkdirSync(place.path("d/e"), { recursive: true });
  writeFileSync(place.path("d/e/f"), "1\n");
  symlinkSync("d", place.path("link"));
  const [before, first] = [treeOf(place.cwd), await place.keep()];
  rmSync(place.path("d"), { recursive: true });
  rmSync(place.path("link"));
  writeFileSync(place.path("d"), "a file now\n", { mode: 0o750 });
  mkdirSync(place.path("link"));
  writeFileSync(place.path("link/x"), "");
  const [after, second] = [treeOf(place.cwd), await place.keep(first.commit)];
  for (let round = 0; round < 2; round += 1) {
    await place.open().restore(first.commit, second.commit);
    expect(treeOf(place.cwd)).toEqual(before);
    await place.workspace.restore(second.commit, first.commit);
    expect(treeOf(place.cwd)).toEqual(after);
  }
});

test("permissions are exact whatever the umask is, and directories that become empty go", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("plain"), "1\n");
  writeFileSync(place.path("tool"), "1\n");
  chmodSync(place.path("plain"), 0o644);
  chmodSync(place.path("tool"), 0o755);
  const first = await place.keep();
  rmSync(place.path("plain"));
  rmSync(place.path("tool"));
  mkdirSync(place.path("d/e"), { recursive: true });
  writeFileSync(place.path("d/e/f"), "");
  const second = await place.keep(first.commit);
  const mask = process.umask(0o077);
  try {
    await place.workspace.restore(first.commit, second.commit);
  } finally {
    process.umask(mask);
  }
  expect(treeOf(place.cwd)).toEqual(
    new Map([
      ["plain", "644 1\n"],
      ["tool", "755 1\n"],
    ]),
  );
  expect(existsSync(place.path("d"))).toBe(false);
});

test.for([
  { what: "too large", path: "large" },
  { what: "excluded", path: "node_modules/x" },
  { what: "with something excluded in it", path: "dir" },
  { what: "behind a pipe", path: "away/x" },
])("what is in the way and in no checkpoint is never overwritten: $what", async ({ path }) => {
  using place = shadowWorkspace({ settings: { max_file_bytes: 1_000, exclude: [] } });
  mkdirSync(place.path("node_modules"));
  mkdirSync(place.path("away"));
  for (const file of ["large", "node_modules/x", "dir", "away/x", "other"]) writeFileSync(place.path(file), "1\n");
  const first = await place.keep();
  for (const file of ["large", "node_modules", "dir", "away", "other"]) rmSync(place.path(file), { recursive: true });
  const exclusive = place.open({ exclude: ["node_modules/"] });
  if (path === "large") writeFileSync(place.path(path), "x".repeat(2_000));
  if (path === "node_modules/x") {
    mkdirSync(place.path("node_modules"));
    writeFileSync(place.path(path), "precious\n");
  }
  if (path === "dir") {
    mkdirSync(place.path("dir/node_modules"), { recursive: true });
    writeFileSync(place.path("dir/node_modules/y"), "precious\n");
  }
  if (path === "away/x") userGit(place.cwd, "-c", "alias.pipe=!mkfifo", "pipe", place.path("away"));
  const current = await exclusive.checkpoint(first.commit);
  const before = treeOf(place.cwd, []);
  await expect(exclusive.restore(first.commit, current?.commit ?? "")).rejects.toMatchObject({
    code: "workspace_conflict",
    message: expect.stringContaining(path.split("/")[0] ?? ""),
  });
  expect(treeOf(place.cwd, [])).toEqual(before);
});

test("an ignored file in the way is not overwritten either", async () => {
  using place = shadowWorkspace({ settings: { max_file_bytes: 1_000 } });
  writeFileSync(place.path(".gitignore"), "*.bin\n");
  writeFileSync(place.path("a.bin"), "1\n");
  const first = await place.keep();
  writeFileSync(place.path("a.bin"), "x".repeat(2_000));
  const current = await place.keep(first.commit);
  await expect(place.workspace.restore(first.commit, current.commit)).rejects.toMatchObject({
    code: "workspace_conflict",
    data: { paths: ["a.bin"] },
  });
  expect(readFileSync(place.path("a.bin"), "utf8")).toHaveLength(2_000);
});

test("what the target left out stays as it is", async () => {
  using place = shadowWorkspace({ settings: { max_file_bytes: 1_000 } });
  writeFileSync(place.path("data"), "x".repeat(2_000));
  writeFileSync(place.path("a"), "1\n");
  const first = await place.keep();
  writeFileSync(place.path("data"), "small now\n");
  chmodSync(place.path("data"), 0o600);
  writeFileSync(place.path("a"), "2\n");
  const current = await place.keep(first.commit);
  await place.workspace.restore(first.commit, current.commit);
  expect(treeOf(place.cwd)).toEqual(
    new Map([
      ["a", "644 1\n"],
      ["data", "600 small now\n"],
    ]),
  );
});

test("files that changed since the checkpoint of now are not overwritten", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  const first = await place.keep();
  writeFileSync(place.path("a"), "2\n");
  const current = await place.keep(first.commit);
  writeFileSync(place.path("a"), "3\n");
  await expect(place.workspace.restore(first.commit, current.commit)).rejects.toMatchObject({
    code: "workspace_conflict",
    data: { paths: ["a"] },
  });
  writeFileSync(place.path("a"), "2\n");
  chmodSync(place.path("a"), 0o600);
  await expect(place.workspace.restore(first.commit, current.commit)).rejects.toMatchObject({
    code: "workspace_conflict",
  });
  expect(readFileSync(place.path("a"), "utf8")).toBe("2\n");
});

test("a checkpoint that is not there is named", async () => {
  using place = shadowWorkspace();
  const first = await place.keep();
  const unknown = "0123456789012345678901234567890123456789";
  await expect(place.workspace.restore(unknown, first.commit)).rejects.toMatchObject({
    code: "workspace_invalid",
    message: expect.stringContaining(unknown),
  });
  // One that the log knows and the disk does not: what is there is kept anew.
  expect(await place.workspace.checkpoint(unknown)).toMatchObject({ commit: first.commit });
});

test("a checkpoint of another session can be taken over", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n", { mode: 0o600 });
  const first = await place.keep();
  writeFileSync(place.path("a"), "2\n");
  await place.keep(first.commit);
  const other = place.session("sesn_two");
  const from = { sessionId: "sesn_one", kind: "copy", cwd: place.cwd, source: place.source } as const;
  await other.workspace.adopt(first.commit, from);
  await other.workspace.adopt(first.commit, from);
  const current = await other.workspace.checkpoint(undefined);
  await other.workspace.restore(first.commit, current?.commit ?? "");
  expect(treeOf(other.cwd)).toEqual(new Map([["a", "600 1\n"]]));
  const unknown = "0123456789012345678901234567890123456789";
  await expect(other.workspace.adopt(unknown, from)).rejects.toMatchObject({ code: "workspace_failed" });
});

test("a workspace above Capstan's own directory does not keep that", async () => {
  using place = shadowWorkspace({ cwd: "." });
  writeFileSync(join(place.root, "a"), "1\n");
  const first = await place.keep();
  expect(first.added).toBe(1);
  expect(await place.workspace.checkpoint(first.commit)).toBeUndefined();
});

test("a file outside that has a second name in the workspace keeps its permissions", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("x"), "1\n");
  const first = await place.keep();
  const outside = join(place.root, "outside");
  writeFileSync(outside, "1\n", { mode: 0o600 });
  rmSync(place.path("x"));
  linkSync(outside, place.path("x"));
  const second = await place.keep(first.commit);
  await place.workspace.restore(first.commit, second.commit);
  expect(statSync(outside).mode & 0o777).toBe(0o600);
  expect(treeOf(place.cwd)).toEqual(new Map([["x", "644 1\n"]]));
  expect(await place.workspace.checkpoint(first.commit)).toBeUndefined();
});
