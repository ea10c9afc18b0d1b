import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { failureOf, gitIn, makeRepository, type Site, site, write } from "./support.ts";

/** A repository of somebody else's, whose configuration runs programs that leave a trace. */
function hostileSite(): Site & { readonly trace: (name: string) => string } {
  const machine = site();
  const trace = (name: string): string => join(machine.path, name);
  makeRepository(machine.source, { "a.txt": "one\n", ".gitattributes": "* filter=x\n" });
  for (const part of ["clean", "smudge", "process"])
    gitIn(machine.source, "config", `filter.x.${part}`, `touch ${trace(part)}; cat`);
  gitIn(machine.source, "config", "filter.x.required", "true");
  // So that git looks into it again.
  utimesSync(join(machine.source, "a.txt"), 5, 5);
  return Object.assign(machine, { trace });
}

test.for(["worktree", "clone"] as const)("filters of the repository do not run: %s", async (kind) => {
  using machine = hostileSite();
  const made = await machine.workspaces.prepare(machine.request({ kind }));
  for (const part of ["clean", "smudge", "process"]) expect(existsSync(machine.trace(part)), part).toBe(false);
  expect(readFileSync(join(made.cwd, "a.txt"), "utf8")).toBe("one\n");
  if (kind === "worktree")
    expect(made.notes).toEqual([
      "Filters configured in the repository (x) were not run: their files are as git stores them.",
    ]);
  await machine.workspaces.remove({ sessionId: "session-1", kind, cwd: made.cwd, source: made.source });
  expect(existsSync(machine.trace("clean"))).toBe(false);
});

test("a configuration that is another one in the worktree, or has a filter that cannot be named, is refused", async () => {
  using machine = hostileSite();
  const included = join(machine.path, "included.conf");
  writeFileSync(included, `[filter "x"]\n\tsmudge = "touch ${machine.trace("included")}; cat"\n`);
  gitIn(machine.source, "config", "includeIf.gitdir:**/worktrees/**.path", included);
  const request = machine.request({ kind: "worktree" });
  expect(await failureOf(machine.workspaces.prepare(request))).toMatchObject({
    code: "workspace_invalid",
    message: expect.stringContaining("includeIf"),
  });
  gitIn(machine.source, "config", "--remove-section", "includeIf.gitdir:**/worktrees/**");
  gitIn(machine.source, "config", "filter.a=b.smudge", "cat");
  expect(await failureOf(machine.workspaces.prepare(request))).toMatchObject({ code: "workspace_invalid" });
  expect(existsSync(machine.trace("included"))).toBe(false);
});

test("what a partial clone lacks is not fetched by a program", async () => {
  using machine = site();
  makeRepository(machine.source, { "a.txt": "one\n" });
  const blob = gitIn(machine.source, "rev-parse", "HEAD:a.txt").trim();
  rmSync(join(machine.source, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  const [program, trace] = [join(machine.path, "run.sh"), join(machine.path, "ran")];
  writeFileSync(program, `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o755 });
  for (const [key, value] of [
    ["core.repositoryformatversion", "1"],
    ["extensions.partialClone", "evil"],
    ["remote.evil.promisor", "true"],
    ["remote.evil.url", `ext::${program}`],
    ["protocol.ext.allow", "always"],
  ] as const)
    gitIn(machine.source, "config", key, value);
  for (const kind of ["worktree", "clone"] as const)
    expect(await failureOf(machine.workspaces.prepare(machine.request({ kind })))).toMatchObject({
      code: "workspace_failed",
    });
  expect(existsSync(trace)).toBe(false);
});

test("a clone has all its objects itself, also of a repository that borrows them or is shallow", async () => {
  using machine = site();
  const [lender, borrower] = [join(machine.source, "lender"), join(machine.source, "borrower")];
  makeRepository(lender, { "a.txt": "one\n" });
  write(lender, { "a.txt": "two\n" });
  gitIn(lender, "commit", "--quiet", "--all", "--message", "second");
  gitIn(machine.source, "clone", "--quiet", "--shared", lender, borrower);
  gitIn(machine.source, "clone", "--quiet", "--depth=1", `file://${lender}`, join(machine.source, "shallow"));
  for (const from of ["borrower", "shallow"]) {
    const made = await machine.workspaces.prepare(machine.request({ kind: "clone", from }, from));
    expect(existsSync(join(made.cwd, ".git/objects/info/alternates"))).toBe(false);
    expect(statSync(join(made.cwd, "a.txt")).nlink).toBe(1);
    gitIn(made.cwd, "fsck", "--strict");
    expect(readFileSync(join(made.cwd, "a.txt"), "utf8")).toBe("two\n");
  }
});
