import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { testCli } from "../support/cli.ts";

const cli = testCli();
afterAll(() => cli[Symbol.dispose]());

interface Key {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly role: string;
  readonly revokedAt: number | null;
  readonly key?: string;
}

async function keys(...flags: string[]): Promise<Key[]> {
  const { stdout } = await cli.run(["keys", "list", "--json", ...flags]);
  return stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Key);
}

test("a key is shown once, listed without its secret, and revoked by the end of its id", async () => {
  expect((await cli.run(["keys"])).stdout).toBe("No keys. Create one: capstan keys create\n");
  const made = await cli.run(["keys", "create", "--name", "ci"]);
  expect(made.code).toBe(0);
  // Standard output is the key and nothing else, so that a script can take it.
  expect(made.stdout).toMatch(/^ck_[\w-]{43}\n$/);
  expect(made.stderr).toMatch(/Key [0-9a-f]{8} has the role operator in the project default\.\nSave it now/);

  const [key] = await keys();
  expect(key).toMatchObject({ name: "ci", role: "operator", project: "default", revokedAt: null, lastUsedAt: null });
  expect(key).not.toHaveProperty("hash");
  const list = await cli.run(["keys", "list"]);
  expect(list.stdout).toMatch(
    /^KEY +PREFIX +ROLE +CREATED +USED +STATUS +NAME +PROJECT\n[0-9a-f]{8} +ck_\S{6}… +operator .* never +active +ci +default\n$/,
  );
  expect(list.stdout).not.toContain(made.stdout.trim());

  const end = key?.id.slice(-8) ?? "";
  expect((await cli.run(["keys", "revoke", end])).stdout).toBe(`Key ${end} (ci) revoked.\n`);
  expect((await cli.run(["keys", "revoke", end])).stdout).toBe(`Key ${end} (ci) was already revoked.\n`);
  expect((await keys())[0]?.revokedAt).toEqual(expect.any(Number));
  expect((await cli.run(["keys", "list"])).stdout).toContain("revoked");
});

test("a key belongs to the project that one is in, or to the one that is named", async () => {
  const project = join(cli.cwd, "project");
  mkdirSync(join(project, ".capstan"), { recursive: true });
  mkdirSync(join(project, "below"));
  const real = realpathSync(project);
  const here = await cli.run(["keys", "create", "--json", "--role", "viewer"], { cwd: join(project, "below") });
  const there = await cli.run(["keys", "create", "--json", "--role", "admin", "--project", "project"]);
  const [first, second] = [here, there].map(({ stdout }) => JSON.parse(stdout) as Key);
  expect(first).toMatchObject({ project: real, role: "viewer", key: expect.stringMatching(/^ck_/) });
  expect(second).toMatchObject({ project: real, role: "admin" });
  expect((await keys("--project", "project")).map(({ id }) => id)).toEqual([first?.id, second?.id]);
});

test("what makes no sense is refused, and nothing is revoked by mistake", async () => {
  expect((await cli.run(["keys", "create", "--role", "owner"])).code).toBe(2);
  const nowhere = await cli.run(["keys", "create", "--project", "not-there"]);
  expect([nowhere.code, nowhere.stdout, nowhere.stderr]).toEqual([
    2,
    "",
    expect.stringContaining('--project: directory "not-there" not found'),
  ]);
  await cli.run(["keys", "create", "--name", "stays"]);
  const id = (await keys()).find(({ name }) => name === "stays")?.id ?? "";
  const refused = await cli.run(["keys", "revoke", id, "ffffffffffff"]);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    "capstan: No key ffffffffffff found. To list them: capstan keys list\n",
  ]);
  expect((await keys()).find((key) => key.id === id)?.revokedAt).toBeNull();
  const both = await cli.run(["keys", "revoke", "key"]);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("too short")]);
});
