import { execFile, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { diskFailure } from "../../src/workspace/disk-failure.ts";
import { failureOf, gitIn, makeRepository, placeOf, type Site, site, treeOf, write } from "./support.ts";

const run = promisify(execFile);

interface Told {
  readonly code: string;
  readonly message: string;
}

/** Prepares a workspace in a process of its own, which a shell has restricted first; what it failed with. */
async function preparedWithin(machine: Site, shell: string, workspace: object): Promise<Told> {
  const { source, home, capstanHome, root } = machine;
  const program = `
    import { createWorkspaces } from ${JSON.stringify(resolve("src/workspace/workspaces.ts"))};
    import { environmentDefinition } from ${JSON.stringify(resolve("src/core/environment/environment.ts"))};
    const workspaces = createWorkspaces(${JSON.stringify({ root, mountRoots: [], home, capstanHome })});
    const { workspace } = environmentDefinition.parse(${JSON.stringify({ workspace })});
    const request = { sessionId: "session-1", source: ${JSON.stringify(source)}, workspace };
    const failure = await workspaces.prepare(request).then(() => ({ code: "none", message: "" }), (error) => error);
    const left = await workspaces.sessionIds();
    console.log(JSON.stringify({ code: failure.code, message: failure.message + left.join() }));
  `;
  const script = `${shell}\nexec "$0" --input-type=module --eval "$1"`;
  const { stdout } = await run("sh", ["-c", script, process.execPath, program], { cwd: resolve(".") });
  return JSON.parse(stdout) as Told;
}

const COPY = { kind: "copy", mounts: [{ source: "." }] };

test("a copy that may not be written any further says why, names the file, and is removed", async () => {
  using machine = site();
  write(machine.source, { "large.bin": "x".repeat(400_000) });
  const told = await preparedWithin(machine, "ulimit -f 100", COPY);
  expect(told.code).toBe("workspace_failed");
  expect(told.message).toMatch(/^Writing .*session-1\/files\/project\/large\.bin failed: .*ulimit -f/);
  expect(treeOf(machine.root)).toEqual({});
});

/** Ways to mount where nobody else sees it: as anyone, or, where that is forbidden, as root. */
const namespace = ["unshare --user --map-root-user --mount", "unshare --mount"].find(
  (make) => spawnSync("sh", ["-c", `${make} mount -t tmpfs tmpfs "$0"`, tmpdir()]).status === 0,
);

/** A shell line that goes on where Capstan keeps its workspaces on a disk of its own. */
function onDisk(machine: Site, options: string): string {
  mkdirSync(machine.root);
  return `[ "$IN_NAMESPACE" = 1 ] || exec env IN_NAMESPACE=1 ${namespace} sh -c 'mount -t tmpfs -o ${options} tmpfs "${machine.root}" && exec "$0" --input-type=module --eval "$1"' "$0" "$1"`;
}

// Where mounting is forbidden, the tests above and below are what there is.
test.runIf(namespace !== undefined)("a full disk ends a copy, a worktree and a clone with what to do", async () => {
  using machine = site();
  makeRepository(machine.source, {
    "large.bin": Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))),
    "b/c": "c",
  });
  for (let index = 0; index < 40; index++)
    write(machine.source, { [`more/${index}.bin`]: Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))) });
  gitIn(machine.source, "add", "--all");
  gitIn(machine.source, "commit", "--quiet", "--message", "more");
  const shell = onDisk(machine, "size=1m");
  for (const workspace of [COPY, { kind: "worktree" }, { kind: "clone" }]) {
    const told = await preparedWithin(machine, shell, workspace);
    expect([workspace, told.code]).toEqual([workspace, "workspace_failed"]);
    expect(told.message).toMatch(/the disk is full[.:] free some space|check that the disk has free space/i);
  }
  expect(gitIn(machine.source, "branch", "--list").trim()).toBe("* main");
  expect(gitIn(machine.source, "worktree", "list").trim().split("\n")).toHaveLength(1);
});

test.runIf(namespace !== undefined)("a disk that can only be read ends every kind with what to do", async () => {
  using machine = site();
  makeRepository(machine.source, { "a.txt": "a" });
  const shell = onDisk(machine, "ro");
  for (const workspace of [COPY, { kind: "worktree" }, { kind: "clone" }]) {
    const told = await preparedWithin(machine, shell, workspace);
    expect([workspace, told.code]).toEqual([workspace, "workspace_failed"]);
    expect(told.message).toMatch(/is read-only\. Make it writable, or set CAPSTAN_HOME/);
  }
});

test.each(["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EIO", "EWHATEVER"])("%s is told with its path", (code) => {
  const thrown = Object.assign(new Error("system words"), { code });
  expect(diskFailure(thrown, "Writing", Buffer.from("/a/line\nbreak"))).toMatchObject({
    code: "workspace_failed",
    message: expect.stringMatching(/^Writing "\/a\/line\\nbreak" failed: .*\.$/),
    cause: thrown,
  });
});

test("what may not be read is named; root may read everything", async () => {
  using machine = site();
  write(machine.source, { "closed/a.txt": "a", "b.txt": "b" });
  chmodSync(join(machine.source, "closed"), 0o000);
  const request = machine.request({ kind: "copy", mounts: [{ source: "." }] });
  try {
    if (process.getuid?.() === 0) await machine.workspaces.prepare(request);
    else {
      const failure = await failureOf(machine.workspaces.prepare(request));
      expect(failure.message).toMatch(/^Reading .*\/closed failed: permission is denied/);
    }
  } finally {
    chmodSync(join(machine.source, "closed"), 0o700);
  }
});

test("a workspace is removed also when the agent has closed its directories", async () => {
  using machine = site();
  write(machine.source, { "d/e/a.txt": "a" });
  const request = machine.request({ kind: "copy", mounts: [{ source: ".", target: "." }] });
  const made = await machine.workspaces.prepare(request);
  writeFileSync(join(made.cwd, "d/e/read-only.txt"), "r", { mode: 0o400 });
  for (const directory of ["d/e", "d"]) chmodSync(join(made.cwd, directory), 0o000);
  await machine.workspaces.remove(placeOf(request, made));
  expect(treeOf(machine.root)).toEqual({});
});
