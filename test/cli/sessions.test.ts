import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Command } from "commander";
import { addCommands } from "../../src/cli/commands.ts";
import { type Cli, preparedCli, testCli } from "../support/cli.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";
import { COPY, sessionOf } from "./workspaces-sessions.ts";

async function session(cli: Cli, message: string): Promise<string> {
  const { stdout } = await cli.run(["run", "--rehearsal", "--yes", message]);
  return /session ([0-9a-f]{8})/.exec(stdout)?.[1] ?? "?";
}

/** A session that wrote a file in a copy of the directory, and one that wrote a file in the directory. */
const two = preparedCli(async (open) => ({
  untaken: await sessionOf(open(), ["write a.txt with hi"], COPY),
  inPlace: await sessionOf(open(), ["write b.txt with hi"]),
}));

test("sessions are listed with what they are about, searched and filtered", async () => {
  using cli = testCli();
  const apples = await sessionOf(cli, ["hello apples"]);
  const pears = await sessionOf(cli, ["hello pears"]);
  const all = (await cli.run(["sessions", "list"])).stdout;
  expect(all.indexOf(pears)).toBeLessThan(all.indexOf(apples));
  expect(all).toContain("hello apples");
  const found = (await cli.run(["sessions", "list", "APPLES"])).stdout;
  expect(found).toContain(apples);
  expect(found).not.toContain(pears);
  expect((await cli.run(["sessions", "list", "--status", "running"])).stdout).toContain("No sessions found");
  const json = (await cli.run(["sessions", "list", "--json", "--limit", "1"])).stdout;
  expect(JSON.parse(json)).toMatchObject({ status: "idle", firstMessage: "hello pears" });
  for (const line of all.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("secrets among the variables of a session stay in the store", async () => {
  using cli = testCli();
  const settings = "environment: { variables: { API_TOKEN: hunter2, LANG: C, DB: 'pg://kim:hunter2@db.example/x' } }\n";
  mkdirSync(join(cli.home, ".capstan"));
  writeFileSync(join(cli.home, ".capstan", "config.yaml"), settings);
  const id = await session(cli, "hello");
  const json = (await cli.run(["sessions", "list", "--json"])).stdout;
  const exported = (await cli.run(["sessions", "export", id])).stdout;
  for (const text of [json, exported]) {
    expect(text).not.toContain("hunter2");
    expect(text).toContain('"LANG":"C"');
    expect(text).toContain('"API_TOKEN":"[redacted:API_TOKEN]"');
  }
  writeFileSync(join(cli.cwd, "session.jsonl"), exported);
  expect(await cli.run(["sessions", "import", "session.jsonl"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('\n  environment.variables sets LANG to "C" for its commands\n'),
  });
  await cli.run(["sessions", "import", "--trust", "session.jsonl"]);
  const all = (await cli.run(["sessions", "list", "--json"])).stdout.trim().split("\n");
  const variables = all.map(
    (line) => (JSON.parse(line) as { environment: { variables: object } }).environment.variables,
  );
  expect(variables).toContainEqual({ LANG: "C" });
});

test("a session can be read, compacted and deleted by the end of its id", async () => {
  using cli = testCli();
  const id = await sessionOf(cli, ["run echo something-to-see"]);
  const shown = await cli.run(["sessions", "show", id]);
  expect(shown.stdout).toContain("> run echo something-to-see");
  expect(shown.stdout).toContain("Bash echo something-to-see");
  expect((await cli.run(["sessions", "show", id, "--json"])).stdout).toContain('"type":"session.status_idle"');
  expect((await cli.run(["sessions", "compact", id, "--rehearsal"])).stdout).toContain("continues from a summary");
  const deleted = await cli.run(["sessions", "delete", id]);
  expect(deleted.stdout).toContain("erased");
  expect((await cli.run(["sessions", "show", id])).code).toBe(2);
});

test("a session with a workspace of its own says so, and names where it was started", async () => {
  using cli = testCli();
  const plain = await sessionOf(cli, ["hello"]);
  expect((await cli.run(["sessions", "list"])).stdout).not.toContain("WORKSPACE");
  expect((await cli.run(["sessions", "show", plain])).stdout).toContain(
    `agent writer · engine ${TEST_ENGINE} · ${cli.cwd} · project`,
  );
  const id = await sessionOf(cli, ["hello"], COPY);
  const list = (await cli.run(["sessions", "list"])).stdout;
  expect(list).toMatch(new RegExp(`^${id} .* copy +hello$`, "m"));
  expect(list).toMatch(new RegExp(`^${plain} .* in-place +hello$`, "m"));
  expect((await cli.run(["sessions", "show", id])).stdout).toContain(
    `agent writer · engine ${TEST_ENGINE} · copy of ${cli.cwd} · project`,
  );
});

test("delete removes the workspace, and refuses while it has changes that were not exported", async () => {
  using cli = await two();
  const workspaces = join(cli.home, ".capstan", "workspaces");
  const { untaken, inPlace } = cli.made;
  const unchanged = await sessionOf(cli, ["hello"], COPY);
  const { code, stdout, stderr } = await cli.run(["sessions", "delete", untaken, unchanged, inPlace]);
  expect(code).toBe(1);
  expect(stderr).toContain(`capstan sessions delete ${untaken} --discard-changes`);
  for (const gone of [unchanged, inPlace]) expect(stdout).toContain(`Session ${gone} erased.`);
  expect(readdirSync(workspaces).map((id) => id.slice(-8))).toEqual([untaken]);
  expect(existsSync(join(cli.cwd, "b.txt"))).toBe(true);
  expect((await cli.run(["sessions", "delete", untaken, "--discard-changes"])).stdout).toContain(" erased.");
  expect(readdirSync(workspaces)).toEqual([]);
});

test("a session whose workspace was cleaned, or that waits for an answer, can be deleted", async () => {
  using cli = await two();
  const { untaken: cleaned, inPlace: other } = cli.made;
  await cli.run(["workspaces", "clean", cleaned, "--yes", "--discard-changes"]);
  expect((await cli.run(["sessions", "delete", cleaned])).code).toBe(0);
  const { stdout } = await cli.run(["run", "--rehearsal", "run echo hello"]);
  const waiting = /session ([0-9a-f]{8})/.exec(stdout)?.[1] ?? "?";
  expect((await cli.run(["sessions", "delete", waiting, waiting])).code).toBe(0);
  // A mistake in one name erases nothing.
  expect((await cli.run(["sessions", "delete", other, "ffffffff"])).code).toBe(2);
  expect((await cli.run(["sessions", "list"])).stdout).toContain(other);
});

test("show --follow goes on with what happens", async () => {
  await using model = await scriptedModel((request) => say(`answer ${request.index}`));
  using cli = testCli(model.url);
  const { stdout } = await cli.run(["run", "first"]);
  const id = /session ([0-9a-f]{8})/.exec(stdout)?.[1] ?? "?";
  const follower = cli.start(["sessions", "show", id, "--follow"]);
  let seen = "";
  follower.stdout.on("data", (chunk) => (seen += String(chunk)));
  await expect.poll(() => seen).toContain("answer 0");
  await cli.run(["run", "-c", "second"]);
  await expect.poll(() => seen).toContain("answer 1");
  follower.kill("SIGKILL");
});

test("projects are found upwards and keep their sessions apart", async () => {
  using cli = testCli();
  const root = join(cli.cwd, "project");
  mkdirSync(join(root, ".capstan"), { recursive: true });
  mkdirSync(join(root, "deep", "er"), { recursive: true });
  await sessionOf(cli, ["in no project"]);
  await cli.run(["run", "--rehearsal", "in the project"], { cwd: join(root, "deep", "er") });
  const projects = (await cli.run(["projects"])).stdout;
  expect(projects).toContain("default");
  expect(projects).toContain(root);
  const other = await cli.run(["run", "--rehearsal", "-c", "again"], { cwd: root });
  expect(other.code).toBe(0);
  expect((await cli.run(["sessions", "list", "--project", root])).stdout).not.toContain("in no project");
});

test("config show tells where each value came from", async () => {
  using cli = testCli();
  mkdirSync(join(cli.cwd, ".capstan"));
  writeFileSync(join(cli.cwd, ".capstan", "config.yaml"), "model: claude-haiku-4-5\non_crash: continue\n");
  const { stdout } = await cli.run(["config", "show", "--json"]);
  const values = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { key: string; value: unknown; source: string });
  const of = (key: string) => values.find((value) => value.key === key);
  expect(of("model")).toMatchObject({
    value: "claude-haiku-4-5",
    source: expect.stringContaining("project") as string,
  });
  expect(of("retries")).toMatchObject({ value: 6, source: "built in" });
  const shown = (await cli.run(["config", "show"])).stdout;
  expect(shown).toMatch(/^retries +built in +6$/m);
});

test("a backup can be restored, and pruning first only says what it would do", async () => {
  using cli = testCli();
  const id = await sessionOf(cli, ["hello"]);
  expect((await cli.run(["backup", "copy.db"])).code).toBe(0);
  expect(existsSync(join(cli.cwd, "copy.db"))).toBe(true);
  expect((await cli.run(["backup", "copy.db"])).code).toBe(2);
  const dry = await cli.run(["prune", "--older-than", "1ms"]);
  expect(dry.stdout).toContain(id);
  expect(dry.stderr).toContain("Nothing was erased");
  expect((await cli.run(["sessions", "list"])).stdout).toContain(id);
  expect((await cli.run(["prune", "--older-than", "1ms", "--yes"])).stdout).toContain("erased");
  expect((await cli.run(["sessions", "list"])).stdout).not.toContain(id);
  expect((await cli.run(["restore", "copy.db"])).stdout).toContain("The old store is now ");
  expect((await cli.run(["sessions", "list"])).stdout).toContain(id);
});

test("a live session is refused to others, who are told who has it", async () => {
  await using model = await scriptedModel(() => say("word ".repeat(600), { pace: 10 }));
  using cli = testCli(model.url);
  const child = cli.start(["run", "talk"]);
  await new Promise((seen) => child.stdout.once("data", seen));
  const second = await cli.run(["run", "-c", "me too"]);
  expect(second.code).toBe(3);
  expect(second.stderr).toContain(String(child.pid));
  child.kill("SIGINT");
  await new Promise((done) => child.once("exit", done));
});

/** What a command prints of itself, without a process for each. */
function helpOf(name: string): string {
  let help = "";
  const program = new Command("capstan").configureOutput({ writeOut: (text) => void (help += text) });
  addCommands(program);
  program.commands.find((command) => command.name() === name)?.outputHelp();
  return help;
}

test("every command's help has an example, and completion knows every command", async () => {
  using cli = testCli();
  const help = (await cli.run(["--help"])).stdout;
  const commands = [...help.matchAll(/^ {2}(\w+)/gm)].map((match) => match[1] ?? "").filter((name) => name !== "help");
  expect(commands).toContain("doctor");
  expect((await cli.run(["run", "--help"])).stdout).toContain("Example");
  for (const name of commands.filter((command) => !["sessions", "config"].includes(command)))
    expect(helpOf(name), name).toContain("Example");
  for (const shell of ["bash", "zsh", "fish"]) {
    const script = (await cli.run(["completion", shell])).stdout;
    for (const name of commands) expect(script).toContain(name);
  }
});

test("models asks the model API, and says so when it has no list", async () => {
  await using model = await scriptedModel(() => say("ok"));
  using cli = testCli(model.url);
  const { code, stderr } = await cli.run(["models"]);
  expect(code).toBe(2);
  expect(stderr).toContain("does not list its models");
});

test("models lists what the model API offers", async () => {
  const server = createServer((request, response) => {
    const known = request.url?.startsWith("/v1/models") === true && request.headers["x-api-key"] === "sk-ant-test";
    response.writeHead(known ? 200 : 401, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ data: [{ id: "claude-test-1", display_name: "Test One", created_at: "2026-01-02T00:00:00Z" }] }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  using cli = testCli(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const { stdout, code } = await cli.run(["models"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^claude-test-1 +2026-01-02 +Test One$/m);
  const refused = await cli.run(["models"], { environment: { ANTHROPIC_API_KEY: "sk-ant-wrong" } });
  expect(refused.code).toBe(3);
  server.close();
});
