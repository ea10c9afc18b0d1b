import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { cloneAddress } from "../../src/workspace/kinds/clone-address.ts";
import {
  failureOf,
  filesOf,
  gitIn,
  gitServer,
  makeRepository,
  placeOf,
  type Site,
  site,
  treeOf,
  write,
} from "./support.ts";

const CLONE = { kind: "clone" } as const;

/** A machine whose project has two commits, a tag on the first and a branch beside it. */
function historySite(): Site {
  const machine = site();
  makeRepository(machine.source, { "a.txt": "one\n", "sub/b.txt": "two\n" });
  gitIn(machine.source, "tag", "v1");
  gitIn(machine.source, "branch", "side");
  write(machine.source, { "a.txt": "second\n" });
  gitIn(machine.source, "commit", "--quiet", "--all", "--message", "second");
  return machine;
}

const commitIn = (directory: string, revision: string): string => gitIn(directory, "rev-parse", revision).trim();
const commitsIn = (directory: string): string => gitIn(directory, "rev-list", "--count", "HEAD").trim();

test("a clone is on a branch of its own, shares no file with the repository, and cannot push to it", async () => {
  using machine = historySite();
  const made = await machine.workspaces.prepare(machine.request(CLONE));
  expect(made).toMatchObject({ branch: "capstan/session-1", base: commitIn(machine.source, "main"), notes: [] });
  expect(gitIn(made.cwd, "symbolic-ref", "HEAD").trim()).toBe("refs/heads/capstan/session-1");
  const objects = join(made.cwd, ".git/objects");
  for (const path of filesOf(objects)) expect(statSync(join(objects, path)).nlink).toBe(1);
  expect(() => gitIn(made.cwd, "push", "--quiet", "origin", "HEAD:refs/heads/pushed")).toThrow(
    "pushing-to-the-host-is-off",
  );
  expect(filesOf(join(made.cwd, ".git/hooks"))).toEqual([]);
});

test("a clone starts from a branch, a tag or a commit, in full or short, with the history that was asked for", async () => {
  using machine = historySite();
  const first = commitIn(machine.source, "v1");
  const cases = [
    { ref: "side" },
    { ref: "v1" },
    { ref: first },
    { ref: first.slice(0, 10) },
    { ref: "side", depth: 1 },
    { ref: "v1", depth: 1 },
    { ref: first, depth: 1 },
  ];
  for (const [index, more] of cases.entries()) {
    const made = await machine.workspaces.prepare(machine.request({ ...CLONE, ...more }, `session-${index}`));
    expect([more, made.base]).toEqual([more, first]);
    expect(readFileSync(join(made.cwd, "a.txt"), "utf8")).toBe("one\n");
  }
  const shallow = await machine.workspaces.prepare(machine.request({ ...CLONE, depth: 1 }, "shallow"));
  expect([shallow.base, commitsIn(shallow.cwd)]).toEqual([commitIn(machine.source, "main"), "1"]);
  const whole = await machine.workspaces.prepare(machine.request(CLONE, "whole"));
  expect(commitsIn(whole.cwd)).toBe("2");
});

test("what is not there is refused, and nothing is left", async () => {
  using machine = historySite();
  const absent = "0123456789012345678901234567890123456789";
  for (const more of [{ ref: "nowhere" }, { ref: "nowhere", depth: 1 }, { ref: absent }, { ref: "--upload-pack=x" }]) {
    const failure = await failureOf(machine.workspaces.prepare(machine.request({ ...CLONE, ...more })));
    expect(failure).toMatchObject({ code: "workspace_invalid", message: expect.stringContaining("workspace.ref") });
    expect(treeOf(machine.root)).toEqual({});
  }
  const empty = join(machine.source, "empty");
  gitIn(machine.source, "init", "--quiet", empty);
  const failure = await failureOf(machine.workspaces.prepare(machine.request({ ...CLONE, from: "empty" })));
  expect(failure).toMatchObject({ code: "workspace_invalid", message: expect.stringContaining("no commit yet") });
  expect(treeOf(machine.root)).toEqual({});
});

test("a detached HEAD is what is cloned, and a session in a subdirectory works in that one", async () => {
  using machine = historySite();
  gitIn(machine.source, "checkout", "--quiet", "--detach", "v1");
  const request = { ...machine.request(CLONE), source: join(machine.source, "sub") };
  const made = await machine.workspaces.prepare(request);
  expect(made).toMatchObject({ base: commitIn(machine.source, "v1"), source: request.source });
  expect(filesOf(made.cwd)).toEqual(["b.txt"]);
  await machine.workspaces.remove(placeOf(request, made));
  expect(treeOf(machine.root)).toEqual({});
});

test("submodules are told, and not checked out", async () => {
  using machine = historySite();
  const library = join(machine.path, "library");
  makeRepository(library, { "lib.txt": "lib" });
  gitIn(machine.source, "submodule", "--quiet", "add", library, "lib");
  gitIn(machine.source, "commit", "--quiet", "--message", "submodule");
  const made = await machine.workspaces.prepare(machine.request(CLONE));
  expect(made.notes).toEqual([expect.stringContaining("submodules")]);
  expect(filesOf(join(made.cwd, "lib"))).toEqual([]);
});

test("a path is cloned only from the allowed roots, however it is written", async () => {
  using machine = historySite();
  const other = join(machine.path, "other [x] 100%");
  makeRepository(other, { "other.txt": "other" });
  for (const from of [other, "../other [x] 100%", pathToFileURL(other).href]) {
    const failure = await failureOf(machine.workspaces.validate(machine.request({ ...CLONE, from })));
    expect(failure).toMatchObject({ code: "workspace_invalid", message: expect.stringContaining("allowed root") });
  }
  const workspaces = machine.withOptions({ mountRoots: [other] });
  for (const [index, more] of [{ from: other }, { from: pathToFileURL(other).href, depth: 1 }].entries()) {
    const made = await workspaces.prepare(machine.request({ ...CLONE, ...more }, `session-${index}`));
    expect(filesOf(made.cwd)).toContain("other.txt");
    expect(made.source).toBe(other);
  }
});

test("a checkout in an allowed root whose history is elsewhere is refused", async () => {
  using machine = historySite();
  const other = join(machine.path, "other");
  makeRepository(other, { "other.txt": "other" });
  gitIn(other, "worktree", "add", "--quiet", join(machine.source, "linked"));
  const failure = await failureOf(machine.workspaces.validate(machine.request({ ...CLONE, from: "linked" })));
  expect(failure).toMatchObject({ code: "workspace_invalid", message: expect.stringContaining("outside the allowed") });
});

test("addresses that could run a program, and protocols that are not allowed, are refused", async () => {
  using machine = historySite();
  const refused = [
    "ext::sh -c touch% /tmp/owned",
    "fd::17",
    "transport::address",
    "--upload-pack=touch /tmp/owned",
    "http://example.invalid/x.git",
    "git://example.invalid/x.git",
    "ftp://example.invalid/x.git",
    "ssh://-oProxyCommand=x/y",
    "-oProxyCommand=x:y",
    "user@-oProxyCommand=x:y",
    "ssh://user:hidden@example.invalid/x",
    "https://",
    "file://elsewhere/x",
    "https://example.invalid/a\nb",
    "https://example.invalid\\@127.0.0.1/x.git",
    "https://hidden:hidden@example.invalid\\x.git",
    "ssh://example.invalid\\@127.0.0.1/x.git",
  ];
  for (const from of refused) {
    const failure = await failureOf(machine.workspaces.validate(machine.request({ ...CLONE, from })));
    expect([from, failure.code]).toEqual([from, "workspace_invalid"]);
    expect(failure.message).toMatch(/^environment\.workspace\.from is refused/);
    expect(failure.message).not.toContain("hidden");
  }
  for (const from of ["https://example.invalid/x.git", "git@example.invalid:x.git", "ssh://git@example.invalid/x"])
    await machine.workspaces.validate(machine.request({ ...CLONE, from }));
  for (const from of ["sub", "nowhere", "a.txt"])
    expect(await failureOf(machine.workspaces.validate(machine.request({ ...CLONE, from })))).toMatchObject({
      code: "workspace_invalid",
    });
});

const PASSWORD = "s3cr%40t/pass".replace("/", "%2F");
const SHOWN_PASSWORD = decodeURIComponent(PASSWORD);

test("a password in an address reaches the server, and is neither kept nor told", async () => {
  using machine = historySite();
  await using server = await gitServer(machine.source, { user: "robot", password: SHOWN_PASSWORD });
  // The certificate is nobody's: that this works shows that the user's own configuration applies.
  writeFileSync(join(machine.home, ".gitconfig"), "[http]\n\tsslVerify = false\n");
  const from = `https://robot:${PASSWORD}@127.0.0.1:${server.port}/repository`;
  const made = await machine.workspaces.prepare(machine.request({ ...CLONE, from }));
  expect(made).toMatchObject({ base: commitIn(machine.source, "main") });
  expect(made.source).toBe(`https://127.0.0.1:${server.port}/repository`);
  expect(server.countAccepted()).toBeGreaterThan(0);
  for (const path of filesOf(made.cwd)) {
    const content = readFileSync(join(made.cwd, path), "latin1");
    for (const secret of [PASSWORD, SHOWN_PASSWORD, "robot"]) expect(content).not.toContain(secret);
  }
  const wrong = from.replace(PASSWORD, "wr0ng-one");
  const failure = await failureOf(machine.workspaces.prepare(machine.request({ ...CLONE, from: wrong }, "session-2")));
  expect(failure.code).toBe("workspace_failed");
  expect(failure.message).toMatch(/git clone failed[^]*remote: \*\*\*/);
  expect(JSON.stringify([failure.message, failure.data, String(failure.cause), failure.stack])).not.toContain(
    "wr0ng-one",
  );
  expect(await machine.workspaces.sessionIds()).toEqual(["session-1"]);
});

test("a server that never answers is left when the session is interrupted, and nothing stays", async () => {
  using machine = historySite();
  await using server = await gitServer(machine.source, { silent: true });
  writeFileSync(join(machine.home, ".gitconfig"), "[http]\n\tsslVerify = false\n");
  const from = `https://127.0.0.1:${server.port}/repository`;
  const controller = new AbortController();
  const work = failureOf(
    machine.workspaces.prepare(machine.request({ ...CLONE, from }), { signal: controller.signal }),
  );
  await server.asked;
  controller.abort();
  expect(await work).toMatchObject({ code: "workspace_failed", message: expect.stringContaining("interrupted") });
  expect(treeOf(machine.root)).toEqual({});
  expect(existsSync(join(machine.root, "session-1"))).toBe(false);
});

test("git is given an address as it was read, so that both find the same host in it", () => {
  const cases = [
    ["https:///example.invalid/a/../x.git", "https://example.invalid/x.git"],
    ["HTTPS://EXAMPLE.invalid:443/x.git", "https://example.invalid/x.git"],
    ["https://2130706433/x.git", "https://127.0.0.1/x.git"],
  ] as const;
  for (const [from, url] of cases) expect(cloneAddress(from)).toEqual({ kind: "url", url, secrets: [] });
  expect(cloneAddress("https://robot:a@b=c@example.invalid:443/x.git")).toEqual({
    kind: "url",
    url: "https://example.invalid/x.git",
    credentialed: "https://robot:a%40b%3Dc@example.invalid/x.git",
    secrets: ["robot:a@b=c", "robot", "a%40b%3Dc", "a@b=c"],
  });
});

test("where a server sends git elsewhere, it does not follow, and the address to try is told", async () => {
  using machine = historySite();
  await using elsewhere = await gitServer(machine.source, { silent: true });
  const redirected = `https://127.0.0.1:${elsewhere.port}/repository.git/info/refs?service=git-upload-pack`;
  await using server = await gitServer(machine.source, { redirected });
  writeFileSync(join(machine.home, ".gitconfig"), "[http]\n\tsslVerify = false\n\tfollowRedirects = true\n");
  const from = `https://robot:hidden@127.0.0.1:${server.port}/repository`;
  const cloned = failureOf(machine.workspaces.prepare(machine.request({ ...CLONE, from })));
  const failure = await Promise.race([cloned, elsewhere.asked.then(() => "followed" as const)]);
  expect(failure).toMatchObject({
    code: "workspace_failed",
    message: expect.stringMatching(
      new RegExp(
        `Redirects are not followed: .* The current URL may be https://127\\.0\\.0\\.1:${server.port}/repository\\.git\\.$`,
      ),
    ),
  });
  const named = await failureOf(machine.workspaces.prepare(machine.request({ ...CLONE, from: `${from}.git` }, "two")));
  expect(named.message).toMatch(/Redirects are not followed: .*at its end\.$/);
});
