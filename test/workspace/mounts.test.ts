import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import { failureOf, filesOf, makeRepository, gitIn, placeOf, site, treeOf, write } from "./support.ts";

type CopyInput = Extract<NonNullable<EnvironmentInput["workspace"]>, { kind: "copy" }>;

const copy = (...mounts: CopyInput["mounts"]): CopyInput => ({ kind: "copy", mounts });

test("a mount stands at its target: by default the last name of its source", async () => {
  using machine = site();
  write(machine.source, { "docs/a.md": "a", "docs/deep/b.md": "b", "notes.txt": "n" });
  write(machine.home, { "shared/c.md": "c" });
  const workspaces = machine.withOptions({ mountRoots: [join(machine.home, "shared")] });
  const made = await workspaces.prepare(
    machine.request(
      copy(
        { source: "docs" },
        { source: "./docs/deep/", target: "x/y" },
        { source: "notes.txt" },
        { source: "notes.txt", target: "x/renamed.txt" },
        { source: "~/shared", target: "./x/../shared/" },
      ),
    ),
  );
  expect(filesOf(made.cwd)).toEqual(
    ["docs/a.md", "docs/deep/b.md", "notes.txt", "shared/c.md", "x/renamed.txt", "x/y/b.md"].toSorted(),
  );
  expect(made.cwd).toBe(join(machine.root, "session-1/files"));
  expect(statSync(join(machine.root, "session-1")).mode & 0o777).toBe(0o700);
  expect(made.mounts.map(({ source, target }) => [source, target])).toEqual([
    [join(machine.source, "docs"), "docs"],
    [join(machine.source, "docs/deep"), "x/y"],
    [join(machine.source, "notes.txt"), "notes.txt"],
    [join(machine.source, "notes.txt"), "x/renamed.txt"],
    [join(machine.home, "shared"), "shared"],
  ]);
  expect(made.mounts[0]).toMatchObject({ files: 2, bytes: 2, skipped: 0, readOnly: false });
});

test("modes and times are kept, rights that programs borrow are dropped, and empty directories are made", async () => {
  using machine = site();
  write(machine.source, { "run.sh": "#!/bin/sh\n", "secret.txt": "s", "odd.bin": "o" });
  for (const [name, mode] of [
    ["run.sh", 0o755],
    ["secret.txt", 0o400],
    ["odd.bin", 0o6711],
  ] as const)
    chmodSync(join(machine.source, name), mode);
  mkdirSync(join(machine.source, "empty/deeper"), { recursive: true });
  mkdirSync(join(machine.source, "closed"));
  chmodSync(join(machine.source, "closed"), 0o555);
  utimesSync(join(machine.source, "run.sh"), 1_000_000_000.25, 1_000_000_000.25);
  const mounts = copy({ source: ".", target: "." }, { source: ".", target: "fixed", read_only: true });
  const request = machine.request(mounts);
  const made = await machine.workspaces.prepare(request);
  const modes = (directory: string): string[] =>
    ["run.sh", "secret.txt", "odd.bin"].map((name) =>
      (statSync(join(made.cwd, directory, name)).mode & 0o7777).toString(8),
    );
  expect(modes(".")).toEqual(["755", "400", "711"]);
  expect(modes("fixed")).toEqual(["555", "400", "511"]);
  // The session must be able to work in a directory that the host has closed.
  for (const name of ["empty/deeper", "closed"]) expect(statSync(join(made.cwd, name)).mode & 0o700).toBe(0o700);
  expect(statSync(join(made.cwd, "run.sh")).mtimeMs).toBe(1_000_000_000_250);
  expect(made.mounts.map(({ readOnly }) => readOnly)).toEqual([false, true]);
  await machine.workspaces.remove(placeOf(request, made));
  expect(treeOf(machine.root)).toEqual({});
});

test("names with line breaks and bytes that are no text are copied as they are, and removed", async () => {
  using machine = site();
  const names = ["line\nbreak", "tab\tand \"quotes\" 'x' \\", "ünïcode", " space ", "-rf", "*?[a]"];
  for (const name of names) write(machine.source, { [`${name}/${name}`]: name });
  const invalid = Buffer.concat([Buffer.from(`${machine.source}/`), Buffer.from([0x66, 0xff, 0xfe, 0x80])]);
  execFileSync("sh", ["-c", 'printf content > "$(printf "%b" "$0")"', `${machine.source}/f\\0377\\0376\\0200`]);
  expect(readFileSync(invalid, "utf8")).toBe("content");
  const before = treeOf(machine.source);
  const request = machine.request(copy({ source: ".", target: ".", exclude: ["nothing/**"], gitignore: true }));
  const made = await machine.workspaces.prepare(request);
  expect(treeOf(made.cwd)).toEqual(before);
  expect(await machine.workspaces.size(placeOf(request, made))).toBeGreaterThan(0);
  await machine.workspaces.remove(placeOf(request, made));
  expect(treeOf(machine.root)).toEqual({});
});

test("links are left out and counted; sockets and pipes too", async () => {
  using machine = site();
  write(machine.source, { "a.txt": "a", "d/b.txt": "b" });
  symlinkSync("a.txt", join(machine.source, "to-file"));
  symlinkSync("d", join(machine.source, "to-directory"));
  symlinkSync("nowhere", join(machine.source, "broken"));
  execFileSync("mkfifo", [join(machine.source, "pipe")]);
  const server = createServer().listen(join(machine.source, "socket"));
  await new Promise((listening) => server.once("listening", listening));
  try {
    const made = await machine.workspaces.prepare(machine.request(copy({ source: ".", exclude: ["broken"] })));
    expect(filesOf(made.cwd)).toEqual(["project/a.txt", "project/d/b.txt"]);
    expect(made.mounts).toMatchObject([{ files: 2, skipped: 4 }]);
  } finally {
    await new Promise((closed) => server.close(closed));
  }
});

test("links are followed only inside the mount, and never in circles", async () => {
  using machine = site();
  write(machine.path, { "outside/secret.txt": "secret" });
  write(machine.source, {
    "m/a.txt": "a",
    "m/d/b.txt": "b",
    "m/private/key": "k",
    "m/e/c.txt": "c",
    "beside.txt": "x",
  });
  const links = {
    "to-file": "a.txt",
    "to-directory": "d",
    "d/up": "..",
    "d/self": ".",
    "d/to-e": "../e",
    "e/to-d": "../d",
    out: "../../outside",
    "out-file": "../../outside/secret.txt",
    beside: "../beside.txt",
    absolute: join(machine.path, "outside/secret.txt"),
    loop: "loop",
    "to-private": "private/key",
    "to-private-directory": "private",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(machine.source, "m", name));
  const made = await machine.workspaces.prepare(
    machine.request(copy({ source: "m", target: ".", symlinks: "follow", exclude: ["private/"] })),
  );
  const found = filesOf(made.cwd);
  expect(found).toEqual(
    [
      "a.txt",
      "to-file",
      "d/b.txt",
      "d/to-e/c.txt",
      "e/c.txt",
      "e/to-d/b.txt",
      "to-directory/b.txt",
      "to-directory/to-e/c.txt",
    ].toSorted(),
  );
  expect(readFileSync(join(made.cwd, "to-file"), "utf8")).toBe("a");
  expect(Object.values(treeOf(made.cwd)).some((entry) => entry.startsWith("->"))).toBe(false);
});

test("the .git file of a worktree is left out: commits in the copy would go to the person's repository", async () => {
  using machine = site();
  makeRepository(join(machine.path, "main"), { "a.txt": "a" });
  gitIn(join(machine.path, "main"), "worktree", "add", "--quiet", join(machine.source, "linked"));
  const made = await machine.workspaces.prepare(machine.request(copy({ source: "linked", target: "." })));
  expect(filesOf(made.cwd)).toEqual(["a.txt"]);
  expect(made.mounts).toMatchObject([{ skipped: 1 }]);
});

test("what nobody should mount is refused, whichever way it is written", async () => {
  using machine = site();
  symlinkSync("/", join(machine.source, "to-root"));
  symlinkSync(machine.home, join(machine.source, "to-home"));
  symlinkSync(machine.path, join(machine.source, "to-all"));
  execFileSync("mkfifo", [join(machine.source, "pipe")]);
  const server = createServer().listen(join(machine.source, "socket"));
  await new Promise((listening) => server.once("listening", listening));
  const workspaces = machine.withOptions({ mountRoots: ["/"] });
  const refused = {
    "/": "the root directory of the machine",
    "to-root": "the root directory of the machine",
    "/..": "the root directory of the machine",
    "~": "your home directory",
    "~/": "your home directory",
    "to-home": "your home directory",
    "to-all": "it contains your home directory",
    "~/.capstan": "contains Capstan's own files",
    "~/.capstan/credentials": "contains Capstan's own files",
    [machine.root]: "contains Capstan's own files",
    pipe: "a socket, a pipe or a device",
    socket: "a socket, a pipe or a device",
    "/dev/null": "a socket, a pipe or a device",
    "/dev/zero": "a socket, a pipe or a device",
    "not-there": "does not exist",
  };
  try {
    for (const [source, why] of Object.entries(refused)) {
      const failure = await failureOf(workspaces.validate(machine.request(copy({ source }))));
      expect([source, failure.code, failure.message]).toEqual([
        source,
        "workspace_invalid",
        expect.stringContaining(why),
      ]);
      expect(failure.message).toMatch(/^Mount 1 \(/);
    }
  } finally {
    await new Promise((closed) => server.close(closed));
  }
});

test("what lies outside the allowed roots is refused, links resolved; no roots means only the own directory", async () => {
  using machine = site();
  write(machine.path, { "project-other/a.txt": "a", "allowed/b.txt": "b" });
  symlinkSync("../project-other", join(machine.source, "link"));
  symlinkSync(join(machine.path, "allowed"), join(machine.path, "root-link"));
  const outside = ["..", "../project-other", "link", "link/a.txt", "../allowed", "/etc/passwd", "/etc"];
  for (const source of outside) {
    const failure = await failureOf(machine.workspaces.validate(machine.request(copy({ source }))));
    expect([source, failure.code]).toEqual([source, "workspace_invalid"]);
  }
  // A root may itself be a link; one that is not there, or not absolute, allows nothing.
  const mountRoots = [join(machine.path, "root-link"), "/not/there", "", "."];
  const workspaces = machine.withOptions({ mountRoots });
  await workspaces.validate(machine.request(copy({ source: "../allowed/b.txt" }, { source: "../root-link" })));
  for (const source of outside.filter((path) => path !== "../allowed"))
    expect(await failureOf(workspaces.validate(machine.request(copy({ source }))))).toMatchObject({
      code: "workspace_invalid",
    });
});

test("targets outside the workspace and patterns that mean nothing are refused", async () => {
  using machine = site();
  write(machine.source, { "d/a.txt": "a", "f.txt": "f" });
  const invalid: CopyInput["mounts"] = [
    { source: "d", target: ".." },
    { source: "d", target: "../x" },
    { source: "d", target: "a/../../x" },
    { source: "d", target: "/x" },
    { source: "d", target: "a\0b" },
    { source: "d\0", target: "x" },
    { source: "f.txt", target: "." },
    { source: "d", include: ["!a"] },
    { source: "d", include: ["/a"] },
    { source: "d", exclude: ["../a"] },
    { source: "d", exclude: ["[a"] },
    { source: "d", exclude: ["!"] },
    { source: "d", exclude: ["/"] },
    { source: "d", exclude: ["a".repeat(70_000)] },
  ];
  for (const mount of invalid) {
    const failure = await failureOf(machine.workspaces.validate(machine.request(copy(mount))));
    expect([mount, failure.code]).toEqual([mount, "workspace_invalid"]);
  }
});

test("two mounts that put something at one place are refused; directories may be shared", async () => {
  using machine = site();
  write(machine.source, { "a/x.txt": "1", "b/x.txt": "2", "c/y/z.txt": "3", "d/y": "4" });
  const collide = [
    copy({ source: "a", target: "t" }, { source: "b", target: "t" }),
    copy({ source: "a/x.txt" }, { source: "b/x.txt" }),
    copy({ source: "c", target: "." }, { source: "d", target: "." }),
    copy({ source: "d", target: "." }, { source: "c", target: "." }),
    copy({ source: "a/x.txt", target: "t" }, { source: "b", target: "t/below" }),
    copy({ source: "b", target: "t/below" }, { source: "a/x.txt", target: "t" }),
  ];
  for (const workspace of collide) {
    const failure = await failureOf(machine.workspaces.prepare(machine.request(workspace)));
    expect(failure).toMatchObject({ code: "workspace_invalid" });
    expect(failure.message).toMatch(
      /^Mount 1 .* and Mount 2 .* both have a file at .*\. Set another target for one of them/,
    );
    expect(treeOf(machine.root)).toEqual({});
  }
  const shared = copy({ source: "a", target: "t" }, { source: "c", target: "t" }, { source: "d/y", target: "t/y/w" });
  const made = await machine.workspaces.prepare(machine.request(shared));
  expect(filesOf(made.cwd)).toEqual(["t/x.txt", "t/y/w", "t/y/z.txt"]);
});
