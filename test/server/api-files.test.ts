import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Answer } from "../support/api-app.ts";
import { type People, people, session } from "../support/api-people.ts";
import { order } from "../support/obedient-model.ts";

let all: People;
beforeAll(async () => {
  all = await people({
    agent: {
      permissions: { mode: "accept-edits", allow: ["Bash(echo *)", "Bash(rm *)", "Edit(.env)", "Edit(server.key)"] },
    },
    // None of these sessions has a second turn, and some not even a first.
    host: { capacity: { max_idle_processes: 0 } },
  });
});
afterAll(() => all.api[Symbol.asyncDispose]());

/** A session that worked in a copy of the project's directory. */
async function copiedSession(message: string): Promise<string> {
  const environment = { workspace: { kind: "copy", mounts: [{ source: ".", target: "." }] } };
  return session(all.admin, message, { environment });
}

/** A session in the project's directory without messages. */
async function silent(): Promise<string> {
  return (await all.operator.post("/api/sessions", {})).body.id as string;
}

const write = (name: string, content: string): [string, Record<string, unknown>] => [
  "Write",
  { file_path: name, content },
];

test("lists and reads files", async () => {
  const { api, viewer } = all;
  mkdirSync(join(api.cwd, "src"));
  writeFileSync(join(api.cwd, "src", "main.ts"), "export {};\n");
  writeFileSync(join(api.cwd, "picture.bin"), Buffer.from([0, 255, 1, 254]));
  const id = await silent();
  const { body } = await viewer.get(`/api/sessions/${id}/files`);
  expect(body).toMatchObject({ path: ".", truncated: false });
  expect(body.data).toContainEqual({ name: "src", path: "src", type: "directory", size_bytes: null });
  expect(body.data).toContainEqual({ name: "picture.bin", path: "picture.bin", type: "file", size_bytes: 4 });
  const below = await viewer.get(`/api/sessions/${id}/files?path=src/`);
  expect(below.body.data).toEqual([{ name: "main.ts", path: "src/main.ts", type: "file", size_bytes: 11 }]);
  const read = await viewer.get(`/api/sessions/${id}/files/content?path=picture.bin`);
  expect(new Uint8Array(await read.response.arrayBuffer())).toEqual(new Uint8Array([0, 255, 1, 254]));
  expect(read.response.headers.get("content-disposition")).toBe("attachment");
  expect(read.response.headers.get("x-content-type-options")).toBe("nosniff");
});

test("shows nothing outside the workspace, under any name", async () => {
  const { api, viewer } = all;
  writeFileSync(join(api.home, "secret.txt"), "secret");
  symlinkSync(join(api.home, "secret.txt"), join(api.cwd, "link-to-file"));
  symlinkSync(api.home, join(api.cwd, "link-to-directory"));
  symlinkSync("loop", join(api.cwd, "loop"));
  execFileSync("mkfifo", [join(api.cwd, "pipe")]);
  const id = await silent();
  const status = async (what: string, path: string): Promise<number> =>
    (await viewer.get(`/api/sessions/${id}/${what}?path=${encodeURIComponent(path)}`)).status;
  for (const path of ["../home/secret.txt", "/etc/passwd", "src/../../home/secret.txt", "a\0b", ".."]) {
    expect(await status("files/content", path), path).toBe(400);
    expect(await status("files", path), path).toBe(400);
  }
  for (const path of ["link-to-file", "link-to-directory/secret.txt", "loop", "not-there", "x".repeat(5_000)])
    expect(await status("files/content", path), path).toBe(404);
  expect(await status("files", "link-to-directory")).toBe(404);
  expect(await status("files/content", "src")).toBe(400);
  expect(await status("files", "src/main.ts")).toBe(400);
  // A pipe without a writer does not block.
  expect(await status("files/content", "pipe")).toBe(400);
  const { body } = await viewer.get(`/api/sessions/${id}/files`);
  expect(body.data).toContainEqual({ name: "link-to-file", path: "link-to-file", type: "link", size_bytes: null });
});

test("hides credentials of the person and the host, wherever a session works", async () => {
  const { api, admin, viewer } = all;
  mkdirSync(join(api.cwd, ".ssh"));
  writeFileSync(join(api.cwd, ".ssh", "id_ed25519"), "secret");
  writeFileSync(join(api.cwd, ".env"), "ANTHROPIC_API_KEY=secret");
  writeFileSync(join(api.cwd, ".gitignore"), "");
  const environment = { workspace: { kind: "copy", mounts: [{ source: ".", target: "." }] } };
  const inPlace = await silent();
  const { body: copied } = await admin.post("/api/sessions", { environment });
  for (const id of [inPlace, copied.id]) {
    const content = async (path: string): Promise<number> =>
      (await viewer.get(`/api/sessions/${id}/files/content?path=${path}`)).status;
    expect(await content(".gitignore")).toBe(200);
    expect(await content(".env")).toBe(404);
  }
  expect((await viewer.get(`/api/sessions/${inPlace}/files?path=.ssh`)).status).toBe(404);
  expect((await viewer.get(`/api/sessions/${inPlace}/files/content?path=.ssh/id_ed25519`)).status).toBe(404);
  rmSync(join(api.cwd, ".ssh"), { recursive: true });
  rmSync(join(api.cwd, ".env"));
});

test("hides project secrets by name, including those that the host does not use", async () => {
  const { api, viewer, operator } = all;
  mkdirSync(join(api.cwd, "apps", "web"), { recursive: true });
  writeFileSync(join(api.cwd, "apps", "web", ".env.local"), "KEY=secret");
  writeFileSync(join(api.cwd, "apps", "web", ".env.example"), "KEY=");
  const id = await copiedSession(order(["Bash", { command: "echo KEY=other > server.key" }]));
  const content = async (path: string): Promise<number> =>
    (await viewer.get(`/api/sessions/${id}/files/content?path=${path}`)).status;
  expect(await content("apps/web/.env.example")).toBe(200);
  expect(await content("apps/web/.env.local")).toBe(404);
  expect(await content("server.key")).toBe(404);
  for (const answer of [viewer.get(`/api/sessions/${id}/patch`), operator.post(`/api/sessions/${id}/export/zip`)])
    expect((await answer).body.error.message).toMatch(
      /(?:server\.key|\.env\.local), which is hidden because it may be a credential/,
    );
  rmSync(join(api.cwd, "apps"), { recursive: true });
});

async function forAdmins(answer: Promise<Answer>): Promise<void> {
  const { status, body } = await answer;
  expect([status, body.error.message]).toEqual([403, expect.stringMatching(/server\.key.*Only an admin key/)]);
}

test("only admins can export hidden files, in any format", async () => {
  const { api, operator, admin, viewer } = all;
  writeFileSync(join(api.cwd, "server.key"), "ANTHROPIC_API_KEY=first\n");
  const id = await copiedSession(order(["Bash", { command: "echo ANTHROPIC_API_KEY=second > server.key" }]));
  const inPlace = await session(operator, order(write("plain.txt", "plain\n")));
  await forAdmins(viewer.get(`/api/sessions/${id}/patch`));
  await forAdmins(viewer.get(`/api/sessions/${id}/patch?path=server.key`));
  expect((await viewer.get(`/api/sessions/${id}/patch?path=other`)).status).toBe(200);
  for (const how of ["patch", "zip", "branch"])
    await forAdmins(operator.post(`/api/sessions/${id}/export/${how}`, how === "branch" ? {} : undefined));
  await forAdmins(operator.post(`/api/sessions/${inPlace}/export/zip`));
  expect(await (await viewer.get(`/api/sessions/${inPlace}/patch`)).response.text()).toContain("+plain");
  expect(await (await admin.post(`/api/sessions/${id}/export/patch`)).response.text()).toContain("second");
  expect((await admin.post(`/api/sessions/${id}/export/zip`)).status).toBe(200);
  rmSync(join(api.cwd, "server.key"));
});

test("rejects a file that is too large, and says how to get it", async () => {
  const { api, viewer } = all;
  writeFileSync(join(api.cwd, "large.bin"), Buffer.alloc(10 * 1_048_576 + 1));
  const id = await silent();
  const refused = await viewer.get(`/api/sessions/${id}/files/content?path=large.bin`);
  expect(refused.status).toBe(413);
  expect(refused.body.error.message).toContain("export/zip");
});

test("shows changes by file, by call and as a patch", async () => {
  const { viewer } = all;
  const id = await copiedSession(order(write("one.txt", "1\n"), write("two.txt", "2\n")));
  const { body } = await viewer.get(`/api/sessions/${id}/diff?by_call=true`);
  expect(body.files).toEqual([
    { path: "one.txt", kind: "added", insertions: 1, deletions: 0 },
    { path: "two.txt", kind: "added", insertions: 1, deletions: 0 },
  ]);
  expect(body.steps.map((step: { calls: { tool: string }[] }) => step.calls[0]?.tool)).toEqual(["Write", "Write"]);
  expect((await viewer.get(`/api/sessions/${id}/diff`)).body.steps).toEqual([]);
  const { response } = await viewer.get(`/api/sessions/${id}/patch`);
  expect(response.headers.get("content-type")).toContain("text/x-diff");
  expect(await response.text()).toContain("+++ b/one.txt");
  const one = await (await viewer.get(`/api/sessions/${id}/patch?path=one.txt`)).response.text();
  expect(one).toContain("+++ b/one.txt");
  expect(one).not.toContain("two.txt");
  expect(await (await viewer.get(`/api/sessions/${id}/patch?path=three.txt`)).response.text()).toBe("");
  const checkpoints = (await viewer.get(`/api/sessions/${id}/checkpoints`)).body.data as { id: string }[];
  expect(checkpoints.length).toBeGreaterThanOrEqual(2);
  const since = await viewer.get(`/api/sessions/${id}/diff?from=${checkpoints[1]?.id}`);
  expect(since.body.files).toMatchObject([{ path: "two.txt" }]);
  expect((await viewer.get(`/api/sessions/${id}/diff?from=ckpt_none`)).status).toBe(404);
});

test("a rewind is previewed, performed and undone", async () => {
  const { operator, viewer } = all;
  const id = await copiedSession(order(write("one.txt", "1\n")));
  const path = `/api/sessions/${id}/rewind`;
  const files = async (): Promise<string[]> =>
    ((await viewer.get(`/api/sessions/${id}/files`)).body.data as { name: string }[]).map(({ name }) => name);
  const tried = await operator.post(path, { to: "start", dry_run: true });
  expect(tried.body).toMatchObject({ files: [{ path: "one.txt", kind: "deleted" }], conversation: false });
  expect(tried.body).not.toHaveProperty("undo_checkpoint_id");
  expect(await files()).toContain("one.txt");
  const done = await operator.post(path, { to: "start", conversation: true });
  expect(done.body).toMatchObject({ conversation: true, undo_checkpoint_id: expect.stringMatching(/^ckpt_/) });
  expect(await files()).not.toContain("one.txt");
  expect((await operator.post(`${path}/undo`)).body).toMatchObject({
    conversation: true,
    files: [{ path: "one.txt", kind: "added" }],
  });
  expect(await files()).toContain("one.txt");
  expect((await operator.post(path, {})).body.error.message).toContain("to:");
});

test("applies changes to the source, or reports the conflict", async () => {
  const { operator, api } = all;
  writeFileSync(join(api.cwd, "shared.txt"), "base\n");
  const id = await copiedSession(order(["Read", { file_path: "shared.txt" }], write("shared.txt", "theirs\n")));
  const path = `/api/sessions/${id}/apply`;
  const tried = await operator.post(path, { dry_run: true });
  expect(tried.body).toEqual({ applied: [{ path: join(api.cwd, "shared.txt"), how: "written" }], conflicts: [] });
  expect(readFileSync(join(api.cwd, "shared.txt"), "utf8")).toBe("base\n");
  writeFileSync(join(api.cwd, "shared.txt"), "ours\n");
  expect((await operator.post(path, {})).body.conflicts).toHaveLength(1);
  writeFileSync(join(api.cwd, "shared.txt"), "base\n");
  await operator.post(path, {});
  expect(readFileSync(join(api.cwd, "shared.txt"), "utf8")).toBe("theirs\n");
});

test("exports files as a patch and as a zip file, and leaves nothing behind", async () => {
  const { operator } = all;
  const id = await copiedSession(order(write("taken.txt", "out\n")));
  const patch = await operator.post(`/api/sessions/${id}/export/patch`);
  expect(await patch.response.text()).toContain("+out");
  const zip = await operator.post(`/api/sessions/${id}/export/zip`);
  expect(zip.response.headers.get("content-type")).toBe("application/zip");
  const bytes = Buffer.from(await zip.response.arrayBuffer());
  expect(bytes.subarray(0, 2).toString()).toBe("PK");
  expect(bytes.includes("taken.txt")).toBe(true);
  const nothing = await session(operator, "hello");
  expect((await operator.post(`/api/sessions/${nothing}/export/patch`)).status).toBe(404);
});

test("exports changes as a branch of the source repository", async () => {
  const { operator, admin, api } = all;
  const repository = join(api.cwd, "repository");
  mkdirSync(repository);
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", repository, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], {
      encoding: "utf8",
    });
  git("init", "-q");
  writeFileSync(join(repository, "a.txt"), "a\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const environment = { workspace: { kind: "worktree" } };
  const id = await session(admin, order(write("b.txt", "b\n")), { environment, cwd: repository });
  const made = await operator.post(`/api/sessions/${id}/export/branch`, { branch: "from-capstan" });
  expect(made.body).toMatchObject({ branch: "from-capstan", skipped: [] });
  expect(git("show", "from-capstan:b.txt")).toBe("b\n");
  expect(existsSync(join(repository, "b.txt"))).toBe(false);
});
