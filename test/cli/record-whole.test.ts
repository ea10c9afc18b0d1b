import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Cli, preparedCli } from "../support/cli.ts";
import { writeTree } from "../support/suites.ts";
import { recordTrust } from "../support/trust.ts";

/** Nobody would take them for secrets who does not know them. The last is in what the model is told of its tools. */
const [IN_FILE, IN_MESSAGE, IN_TOOLS] = ["quite-an-ordinary-word", "just-another-plain-word", "file_path"];

const AGENT = `name: writer
model: claude-opus-4-8
instructions: You write files.
tools: [Write]
permissions: { mode: accept-edits }
`;

/** A session that has written a file, in a directory with these others. */
function sessionAmong(files: Readonly<Record<string, string>>): () => Promise<Cli & { readonly made: string }> {
  return preparedCli(async (open) => {
    using cli = open();
    writeTree(cli.cwd, { "agent.yaml": AGENT });
    writeTree(join(cli.cwd, "place"), files);
    const args = ["run", "--rehearsal", "-a", "../agent.yaml", `write out.txt with ${IN_MESSAGE}`];
    await recordTrust({ ...cli, cwd: join(cli.cwd, "place") }, "../agent.yaml");
    const ran = await cli.run(args, { cwd: join(cli.cwd, "place") });
    expect(ran).toMatchObject({ code: 0 });
    const { id } = JSON.parse((await cli.run(["sessions", "list", "--json"])).stdout) as { id: string };
    rmSync(join(cli.cwd, "agent.yaml"));
    return id;
  });
}

const small = sessionAmong({ "a.txt": `${IN_FILE}\n`, "sub/b.txt": "b\n" });

const MADE = ["agent.yaml", "cassettes", "fixtures", "place", "writer.test.yaml"];

test("a recording that was killed is not in the way of the next, and nothing takes it for a case", async () => {
  using cli = await small();
  const killed = cli.start(["record", cli.made, "--name", "It"]);
  const hidden = (): string | undefined => readdirSync(cli.cwd).find((name) => name.startsWith(".capstan-record-"));
  while (!existsSync(join(cli.cwd, hidden() ?? "-", "fixtures/it/sub/b.txt"))) {
    expect(killed.exitCode).toBeNull();
    await sleep(5);
  }
  killed.kill("SIGKILL");
  await once(killed, "exit");
  expect(hidden()).toBeDefined();
  expect(readdirSync(cli.cwd).filter((name) => !name.startsWith("."))).toEqual(["place"]);
  const nothing = await cli.run(["test"]);
  expect(nothing.code).toBe(2);
  expect(nothing.stderr).toContain("No suite (*.test.yaml) found");

  const again = await cli.run(["record", cli.made, "--name", "It"]);
  expect(again).toMatchObject({ code: 0, stderr: "" });
  expect(readdirSync(cli.cwd).toSorted()).toEqual(MADE);
  const fixture = readdirSync(join(cli.cwd, "fixtures/it"), { recursive: true, encoding: "utf8" });
  expect(new Set(fixture)).toEqual(new Set(["a.txt", "sub", "sub/b.txt"]));

  // Killed just before the last step: all is in its place but the suite.
  const suite = readFileSync(join(cli.cwd, "writer.test.yaml"), "utf8");
  rmSync(join(cli.cwd, "writer.test.yaml"));
  const last = await cli.run(["record", cli.made, "--name", "It"]);
  expect(last).toMatchObject({ code: 0, stderr: "" });
  expect(readFileSync(join(cli.cwd, "writer.test.yaml"), "utf8")).toBe(suite);
  expect(readdirSync(cli.cwd).toSorted()).toEqual(MADE);
  expect(await cli.run(["test"])).toMatchObject({ code: 0 });

  // What is somebody's own stays.
  rmSync(join(cli.cwd, "writer.test.yaml"));
  writeFileSync(join(cli.cwd, "fixtures/it/a.txt"), "mine\n");
  const refused = await cli.run(["record", cli.made, "--name", "It"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("already exists with other files. Use another name: --name");
  expect(readFileSync(join(cli.cwd, "fixtures/it/a.txt"), "utf8")).toBe("mine\n");
  expect(readdirSync(cli.cwd).toSorted()).toEqual(MADE.filter((name) => name !== "writer.test.yaml"));
});

test("what cannot be brought to its place leaves nothing behind", async () => {
  using cli = await small();
  // Where the cassettes belong there is a file.
  writeTree(cli.cwd, { "new/cassettes": "" });
  const failed = await cli.run(["record", cli.made, "--suite", "new/writer.test.yaml"]);
  expect(failed.code).not.toBe(0);
  expect(readdirSync(join(cli.cwd, "new"))).toEqual(["cassettes"]);
});

const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`${n}.txt`, "x"]));

test.each([
  ["files", "1,001 files of 1,001 bytes in total", sessionAmong(many)],
  ["bytes", "1 file of 50,000,001 bytes in total", sessionAmong({ "large.txt": "x".repeat(50_000_001) })],
])("a session with too many %s to begin with is not recorded", async (_, found, session) => {
  using cli = await session();
  const { code, stderr } = await cli.run(["record", cli.made, "--suite", "new/writer.test.yaml"]);
  expect(code).toBe(2);
  expect(stderr).toContain(
    `${found}, and a fixture is limited to 1,000 files and 50,000,000 bytes. Repeat the session in`,
  );
  expect(readdirSync(cli.cwd)).toEqual(["place"]);
});

const FILE = "a.txt in the session's files contains a secret ([redacted:";
const MESSAGE = "the case's name or a message contains a secret ([redacted:";
const MODEL = "the conversation with the model contains a secret ([redacted:";

test.each([
  ["the project's .env", { "work/.capstan/config.yaml": "", "work/.env": `SERVICE_TOKEN=${IN_FILE}\n` }, FILE],
  ["the user's settings", { "home/.capstan/config.yaml": pattern("ordinary-word") }, FILE],
  ["the project's settings", { "work/.capstan/config.yaml": pattern("ordinary-word") }, FILE],
  ["a login, in a file", { "home/.capstan/credentials.json": storedCredential(IN_FILE) }, FILE],
  ["a login, in a message", { "home/.capstan/credentials.json": storedCredential(IN_MESSAGE) }, MESSAGE],
  ["a login, on the cassette", { "home/.capstan/credentials.json": storedCredential(IN_TOOLS) }, MODEL],
])("what only %s makes a secret is not recorded", async (_, files, told) => {
  using cli = await small();
  writeTree(join(cli.cwd, ".."), files);
  const credentials = join(cli.home, ".capstan/credentials.json");
  if (existsSync(credentials)) chmodSync(credentials, 0o600);
  const before = readdirSync(cli.cwd);
  const { code, stderr } = await cli.run(["record", cli.made]);
  expect(code).toBe(2);
  expect(stderr).toContain(told);
  for (const secret of [IN_FILE, IN_TOOLS]) expect(stderr).not.toContain(secret);
  if (told === MESSAGE) expect(stderr).not.toContain(IN_MESSAGE);
  expect(readdirSync(cli.cwd)).toEqual(before);
});

function pattern(text: string): string {
  return `redact:\n  - { name: word, pattern: ${text} }\n`;
}

function storedCredential(secret: string): string {
  return JSON.stringify({ api_key: { in: "file", secret } });
}
