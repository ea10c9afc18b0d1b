import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { shadowWorkspace, treeOf } from "./shadow-workspace.ts";

afterEach(() => vi.unstubAllEnvs());

test("more files than the limit, or more bytes, are refused before anything is read", async () => {
  using place = shadowWorkspace({ settings: { max_files: 3, max_bytes: 100 } });
  for (const name of ["a", "b", "c"]) writeFileSync(place.path(name), "x".repeat(30));
  const first = await place.keep();
  writeFileSync(place.path("d"), "");
  await expect(place.workspace.checkpoint(first.commit)).rejects.toMatchObject({
    code: "checkpoint_failed",
    message: expect.stringMatching(/has 4 files.*checkpoints\.max_files is 3.*checkpoints\.exclude/s),
    data: { found: 4, limit: 3, field: "checkpoints.max_files" },
  });
  rmSync(place.path("d"));
  writeFileSync(place.path("a"), "y".repeat(41));
  await expect(place.workspace.checkpoint(first.commit)).rejects.toMatchObject({
    code: "checkpoint_failed",
    data: { found: 101, limit: 100, field: "checkpoints.max_bytes" },
  });
  writeFileSync(place.path("a"), "y".repeat(40));
  expect(await place.workspace.checkpoint(first.commit)).toMatchObject({ modified: 1 });
});

test("sparse files that are too many bytes together are refused without reading them", async () => {
  using place = shadowWorkspace({ settings: { max_file_bytes: 6 * 1024 ** 3, max_bytes: 8 * 1024 ** 3 } });
  for (const name of ["a", "b"]) {
    writeFileSync(place.path(name), "");
    truncateSync(place.path(name), 5 * 1024 ** 3);
  }
  await expect(place.workspace.checkpoint(undefined)).rejects.toMatchObject({
    code: "checkpoint_failed",
    data: { found: 10 * 1024 ** 3 },
  });
});

test("without git it says so, and what to do", async () => {
  using place = shadowWorkspace();
  vi.stubEnv("PATH", "/nonexistent");
  await expect(place.workspace.checkpoint(undefined)).rejects.toMatchObject({
    code: "checkpoint_failed",
    message: expect.stringContaining("Install git"),
  });
});

test("a workspace that is gone is named", async () => {
  using place = shadowWorkspace();
  const first = await place.keep();
  rmSync(place.cwd, { recursive: true });
  await expect(place.workspace.checkpoint(first.commit)).rejects.toMatchObject({
    code: "checkpoint_failed",
    message: expect.stringContaining(place.cwd),
  });
});

test("a place where nothing can be written is told of", async () => {
  using place = shadowWorkspace();
  writeFileSync(join(place.root, "sessions"), "a file where the directory should be");
  await expect(place.workspace.checkpoint(undefined)).rejects.toMatchObject({ code: "checkpoint_failed" });
});

test("directories and files that cannot be read are left out, and stay as they are", async () => {
  using place = shadowWorkspace();
  chmodSync(place.root, 0o777);
  for (const directory of ["open", "closed"]) mkdirSync(place.path(directory));
  for (const file of ["open/secret", "open/plain", "closed/x"]) writeFileSync(place.path(file), "1\n");
  chmodSync(place.path("open/secret"), 0o000);
  const first = asNobody(place.root);
  expect(first.output).toContain('"why":"not readable"');
  expect(first.output).toContain('"added":2');
  chmodSync(place.path("closed"), 0o000);
  const second = asNobody(place.root);
  expect(second.output).toContain('{"path":"closed/","why":"not readable"}');
  const { first: start, again, diff, restore } = JSON.parse(second.output.split("\n")[1] ?? "") as Outcome;
  expect([start, again], "the second one has the same").toEqual([expect.any(String), null]);
  expect(diff, "not deleted").toEqual([]);
  // What the checkpoint has of it cannot be brought there.
  expect(restore).toMatch(/workspace_conflict.*closed\/x/);
  chmodSync(place.path("closed"), 0o755);
  expect(readFileSync(place.path("closed/x"), "utf8")).toBe("1\n");
});

interface Outcome {
  readonly first: string;
  readonly again: unknown;
  readonly diff: unknown;
  readonly restore: string;
}

/**
 * Root can read everything; whoever else runs the tests cannot. Prints a checkpoint, and what comes of the first one
 * that was ever taken there.
 */
function asNobody(root: string): { readonly output: string } {
  const script = `
import { openShadow } from ${JSON.stringify(resolve("src/workspace/shadow/shadow.ts"))};
import { existsSync, readFileSync, writeFileSync } from "node:fs";
const root = process.argv[1];
if (process.geteuid() === 0) { process.setgroups([]); process.setgid(65534); process.setuid(65534); }
const place = { sessionId: "s", kind: "copy", cwd: root + "/work", source: root + "/host" };
const settings = { mode: "on", max_file_bytes: 1e6, max_files: 1e3, max_bytes: 1e6, exclude: [] };
const workspace = openShadow(place, { directory: root + "/nobody", settings });
const file = root + "/work-first";
try {
  const taken = await workspace.checkpoint(undefined);
  console.log(JSON.stringify(taken));
  if (!existsSync(file)) writeFileSync(file, taken.commit);
  const first = readFileSync(file, "utf8");
  const again = (await workspace.checkpoint(taken.commit)) ?? null;
  const diff = await workspace.diff({ from: first });
  const restore = await workspace.restore(first, taken.commit).then(() => "", (error) => error.code + error.message);
  console.log(JSON.stringify({ first, again, diff, restore }));
}
catch (error) { console.log(error.code, error.message); }
`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", script, root], { encoding: "utf8" });
  return { output: child.stdout + child.stderr };
}

test("a full disk is told of, and afterwards all goes on", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  const first = await place.keep();
  // A limit on what a process may write stands in for the disk: git fails in the same place.
  writeFileSync(place.path("b"), Buffer.from(Array.from({ length: 400_000 }, (_, at) => (at * 7_919) % 251)));
  const script = `
import { openShadow } from ${JSON.stringify(resolve("src/workspace/shadow/shadow.ts"))};
const [root, last] = process.argv.slice(1);
const place = { sessionId: "sesn_one", kind: "copy", cwd: root + "/work", source: root + "/host" };
const settings = { mode: "on", max_file_bytes: 1e6, max_files: 1e3, max_bytes: 1e6, exclude: ["node_modules/"] };
const workspace = openShadow(place, { directory: root + "/sessions/sesn_one", settings });
try { console.log(JSON.stringify(await workspace.checkpoint(last))); }
catch (error) { console.log(error.code, error.message); }
`;
  const limited = spawnSync(
    "sh",
    [
      "-c",
      'ulimit -f 1; trap "" XFSZ; exec "$@"',
      "sh",
      process.execPath,
      "--input-type=module",
      "-e",
      script,
      place.root,
      first.commit,
    ],
    { encoding: "utf8" },
  );
  expect(limited.stdout).toContain("checkpoint_failed");
  expect(await place.open().checkpoint(first.commit)).toMatchObject({ added: 1 });
});

test("a damaged or missing index is made anew", async () => {
  using place = shadowWorkspace();
  for (const name of ["a", "b"]) writeFileSync(place.path(name), "1\n", { mode: 0o600 });
  const first = await place.keep();
  const index = join(place.repository, "index");
  for (const damage of [
    () => writeFileSync(index, "rubbish"),
    () => writeFileSync(index, Buffer.alloc(500)),
    () => {},
  ]) {
    rmSync(index, { force: true });
    damage();
    expect(await place.open().diff({ from: first.commit })).toEqual([]);
    expect(await place.open().checkpoint(first.commit)).toBeUndefined();
    expect(statSync(index).size, "for the next one").toBeGreaterThan(100);
  }
  // Also the one that a host has in use.
  const holder = place.open();
  await holder.checkpoint(first.commit);
  const held = join(place.repository, readdirSync(place.repository).find((name) => name.startsWith("index-")) ?? "");
  rmSync(held);
  writeFileSync(held, "DIRC rubbish, and long enough to be read as one");
  rmSync(place.path("b"));
  expect(await holder.checkpoint(first.commit)).toMatchObject({ deleted: 1 });
});

test("locks and files that a dead host left are no obstacle, and go", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n");
  const first = await place.keep();
  for (const name of ["index.lock", "index-dead", "index-dead.lock", "refs/capstan/checkpoints.lock", "HEAD.lock"])
    writeFileSync(join(place.repository, name), "");
  writeFileSync(place.path("a"), "2\n");
  const next = place.open();
  const second = await next.checkpoint(first.commit);
  await next.restore(first.commit, second?.commit ?? "");
  expect(treeOf(place.cwd)).toEqual(new Map([["a", "644 1\n"]]));
  expect(existsSync(join(place.repository, "index-dead"))).toBe(false);
  expect(existsSync(join(place.repository, "refs/capstan/checkpoints.lock"))).toBe(false);
});

test("a host goes on after another one has worked on the same files", async () => {
  using place = shadowWorkspace();
  writeFileSync(place.path("a"), "1\n", { mode: 0o600 });
  const first = await place.keep();
  const other = place.open();
  writeFileSync(place.path("a"), "2\n");
  const second = await other.checkpoint(first.commit);
  expect(await place.workspace.checkpoint(second?.commit)).toBeUndefined();
  await place.workspace.restore(first.commit, second?.commit ?? "");
  expect(treeOf(place.cwd)).toEqual(new Map([["a", "600 1\n"]]));
});
