import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { apiError, call, say, scriptedModel } from "../support/scripted-model.ts";
import { sessionOf } from "./workspaces-sessions.ts";

test("run streams the answer, tells each tool call in a line, and closes with the cost and the session", async () => {
  using cli = testCli();
  const { code, stdout, stderr } = await cli.run([
    "run",
    "--rehearsal",
    "--mode",
    "yolo",
    "write a.txt with hi, then run cat a.txt",
  ]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^✓ Write a\.txt \d+(?:\.\d)? m?s$/m);
  expect(stdout).toMatch(/^✓ Bash cat a\.txt \d+(?:\.\d)? m?s\n\nWrote a\.txt\.$/m);
  expect(stdout).toMatch(
    /\$0\.\d+ \(rehearsal\) · [\d,]+ tokens in, [\d,]+ out · \d+(?:\.\d)? m?s · session [0-9a-f]{8}\n$/,
  );
  expect(readFileSync(join(cli.cwd, "a.txt"), "utf8")).toContain("hi");
  expect(stdout).not.toContain("\u001B");
});

test("--json prints the log, one event per line, and --trace writes everything to a file", async () => {
  using cli = testCli();
  mkdirSync(join(cli.cwd, "t"));
  const { stdout } = await cli.run(["run", "--rehearsal", "--json", "--trace", "t/trace.log", "hello"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { seq: number; type: string; session_id: string });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  const { stdout: list } = await cli.run(["sessions", "list", "--json"]);
  expect(new Set(events.map(({ session_id }) => session_id))).toEqual(
    new Set([(JSON.parse(list) as { id: string }).id]),
  );
  expect(events.at(-1)?.type).toBe("session.status_idle");
  expect(readFileSync(join(cli.cwd, "t/trace.log"), "utf8")).toContain("event_delta");
  expect(existsSync(join(cli.home, ".capstan"))).toBe(true);
});

test("--json of a later turn begins where the turn before ended", async () => {
  await using model = await scriptedModel(() => say("answer"));
  using cli = testCli(model.url);
  const first = await cli.run(["run", "--json", "one"]);
  const second = await cli.run(["run", "-c", "--json", "two"]);
  const numbers = `${first.stdout}${second.stdout}`
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { seq: number }).seq);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test("-c, --resume and --fork go on with what was said", async () => {
  await using model = await scriptedModel((request) => say(`answer ${request.index}`));
  using cli = testCli(model.url);
  await cli.run(["run", "the first thing"]);
  const [, id = "?"] = /session ([0-9a-f]{8})/.exec((await cli.run(["run", "-c", "the second thing"])).stdout) ?? [];
  await cli.run(["run", "--resume", id, "the third thing"]);
  expect(model.requests.at(-1)?.transcript).toMatch(/the first thing[^]*the second thing[^]*the third thing/);
  const forked = await cli.run(["run", "--fork", id, "another third thing"]);
  expect(forked.stdout).not.toContain(id);
  expect(model.requests.at(-1)?.transcript).toContain("the second thing");
});

test("the prompt and what is piped are put together, and files are attached", async () => {
  await using model = await scriptedModel(() => say("seen"));
  using cli = testCli(model.url);
  writeFileSync(join(cli.cwd, "notes.txt"), "attached words");
  await cli.run(["run", "-f", "notes.txt", "--", "review", "this"], { input: "piped words\n" });
  expect(model.requests.at(-1)?.last).toContain("review this\n\npiped words");
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain("attached words");
  await cli.run(["run"], { input: "only piped" });
  expect(model.requests.at(-1)?.last).toContain("only piped");
});

test("--schema prints the answer as JSON", async () => {
  await using model = await scriptedModel(() => call("StructuredOutput", { city: "Bergen" }));
  using cli = testCli(model.url);
  writeFileSync(
    join(cli.cwd, "city.json"),
    JSON.stringify({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
  );
  const { stdout, code } = await cli.run(["run", "--schema", "city.json", "which city?"]);
  expect(code).toBe(0);
  expect(stdout).toContain('{\n  "city": "Bergen"\n}');
});

test("an agent file decides instructions, model and tools", async () => {
  await using model = await scriptedModel(() => say("ok"));
  using cli = testCli(model.url);
  writeFileSync(
    join(cli.cwd, "agent.yaml"),
    "name: pirate\ninstructions: You are a PIRATE.\nmodel: claude-haiku-4-5\ntools: [Read]\n",
  );
  await cli.run(["run", "--agent", "agent.yaml", "hello"]);
  expect(JSON.stringify(model.requests.at(-1)?.body.system)).toContain("PIRATE");
  expect(model.requests.at(-1)?.body.model).toContain("haiku");
  expect(model.requests.at(-1)?.body.tools?.map((tool) => tool.name)).toEqual(["Read"]);
});

interface ExitCase {
  readonly name: string;
  readonly args: readonly string[];
  readonly code: number;
  readonly says: RegExp;
  readonly input?: string | Uint8Array;
}

const wrong: ExitCase[] = [
  {
    name: "an unknown flag",
    args: ["run", "--modle", "x", "hi"],
    code: 2,
    says: /Did you mean one of --mode, --model/,
  },
  { name: "an unknown command", args: ["rnu"], code: 2, says: /Did you mean run/ },
  { name: "an empty prompt", args: ["run", "--rehearsal", "  "], code: 2, says: /The prompt is missing/ },
  {
    name: "binary input",
    args: ["run", "--rehearsal"],
    code: 2,
    says: /not text/,
    input: new Uint8Array([0, 159, 146, 150]),
  },
  {
    name: "a file that is not there",
    args: ["run", "--rehearsal", "hi", "-f", "no.txt"],
    code: 2,
    says: /Cannot attach .*no\.txt/,
  },
  {
    name: "an unknown session",
    args: ["run", "--rehearsal", "--resume", "ffff", "hi"],
    code: 2,
    says: /No session ffff found.*sessions list/,
  },
  { name: "nothing to continue", args: ["run", "--rehearsal", "-c", "hi"], code: 2, says: /no sessions yet/ },
  {
    name: "a directory that is not there",
    args: ["run", "--rehearsal", "--cwd", "nowhere", "hi"],
    code: 2,
    says: /nowhere/,
  },
  {
    name: "a schema that is none",
    args: ["run", "--rehearsal", "--schema", "broken.json", "hi"],
    code: 2,
    says: /Cannot read the schema .*broken\.json as JSON/,
  },
  { name: "a wrong duration", args: ["run", "--rehearsal", "--timeout", "soon", "hi"], code: 2, says: /soon/ },
  { name: "a wrong amount", args: ["run", "--rehearsal", "--max-usd", "-1", "hi"], code: 2, says: /above zero/ },
  {
    name: "an agent file with a slip",
    args: ["run", "--rehearsal", "--agent", "slip.yaml", "hi"],
    code: 2,
    says: /slip\.yaml:2:1 .*instructions/,
  },
  { name: "no credentials", args: ["run", "hi"], code: 2, says: /ANTHROPIC_API_KEY.*--rehearsal/ },
];
for (const { name, args, code, says, input } of wrong)
  test(`${name} is one sentence with the next step and exit code ${code}`, async () => {
    using cli = testCli();
    writeFileSync(join(cli.cwd, "broken.json"), "{");
    writeFileSync(join(cli.cwd, "slip.yaml"), "name: x\ninstuctions: hello\n");
    const result = await cli.run(args, { input: input ?? "" });
    expect(result.stderr).toMatch(says);
    expect(result.code).toBe(code);
    expect(result.stderr).not.toMatch(/^\s+at /m);
  });

const ends: { name: string; args: string[]; code: number; says: RegExp; fault?: ReturnType<typeof apiError> }[] = [
  { name: "a limit", args: ["--max-steps", "2", "--mode", "yolo"], code: 4, says: /limit of 2 steps is reached/ },
  {
    name: "a refused key",
    args: [],
    code: 3,
    says: /refused the credential/,
    fault: apiError(401, "authentication_error", "invalid x-api-key"),
  },
  {
    name: "an unknown model",
    args: ["--model", "nope"],
    code: 3,
    says: /does not know this model/,
    fault: apiError(404, "not_found_error", "model: nope"),
  },
];
for (const { name, args, code, says, fault } of ends)
  test(`${name} ends with exit code ${code}`, async () => {
    await using model = await scriptedModel(() => fault ?? call("Bash", { command: "true" }));
    using cli = testCli(model.url);
    const result = await cli.run(["run", ...args, "go"]);
    expect(result.stderr).toMatch(says);
    expect(result.code).toBe(code);
  });

test("an interrupted run keeps its work, says how to go on, and ends with 130", async () => {
  await using model = await scriptedModel((request) =>
    request.index === 0 ? say("word ".repeat(500), { pace: 10 }) : say("more"),
  );
  using cli = testCli(model.url);
  const child = cli.start(["run", "talk"]);
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  await new Promise((seen) => child.stdout.once("data", seen));
  child.kill("SIGINT");
  const code = await new Promise((done) => child.once("exit", done));
  expect(code).toBe(130);
  expect(stderr).toMatch(/Interrupted\. Continue with: capstan run --resume [0-9a-f]{8}/);
  await cli.run(["run", "-c", "go on"]);
  expect(model.requests.at(-1)?.transcript).toContain("word");
});

test("a reader that goes away stops the turn and loses nothing", async () => {
  await using model = await scriptedModel((request) =>
    request.index === 0 ? say("line\n".repeat(3_000), { pace: 10 }) : say("more"),
  );
  using cli = testCli(model.url);
  const child = cli.start(["run", "talk"]);
  await new Promise((seen) => child.stdout.once("data", seen));
  child.stdout.destroy();
  expect(await new Promise((done) => child.once("exit", done))).toBe(130);
  expect((await cli.run(["run", "-c", "go on"])).code).toBe(0);
});

test("without HOME, and with one that cannot be written to, it says what to set", async () => {
  using cli = testCli();
  const homeless = await cli.run(["sessions", "list"], { environment: { HOME: undefined } });
  expect(homeless).toMatchObject({ code: 2, stderr: expect.stringContaining("CAPSTAN_HOME") as string });
  const file = join(cli.home, "file");
  writeFileSync(file, "");
  const unwritable = await cli.run(["sessions", "list"], { environment: { CAPSTAN_HOME: join(file, "below") } });
  expect(unwritable.code).toBe(3);
  expect(unwritable.stderr).toContain(join(file, "below"));
});

test("a rehearsal ends when the store cannot be opened", async () => {
  using cli = testCli();
  mkdirSync(join(cli.home, ".capstan"));
  writeFileSync(join(cli.home, ".capstan", "capstan.db"), "This is no database. ".repeat(100));
  const { code, stderr } = await cli.run(["run", "--rehearsal", "hi"]);
  expect(code).toBe(3);
  expect(stderr).toContain("capstan.db");
});

test("a terminal that goes away, and says so twice, ends the turn and keeps its work", async () => {
  await using model = await scriptedModel(() => say("word ".repeat(2_000), { pace: 10 }));
  using cli = testCli(model.url);
  const child = cli.start(["run", "talk"]);
  await new Promise((seen) => child.stdout.once("data", seen));
  child.stdout.destroy();
  child.stderr.destroy();
  child.kill("SIGHUP");
  child.kill("SIGHUP");
  expect(await new Promise((done) => child.once("exit", done))).toBe(130);
  expect(JSON.parse((await cli.run(["sessions", "list", "--json"])).stdout)).toMatchObject({ status: "idle" });
});

test("neither the model nor a tool call can steer the terminal, and wide characters keep to the width of the line", async () => {
  const evil = "\u001B]0;title\u0007\u001B[2J✓ forged";
  const steps = [evil, "日本語".repeat(40)].map((text) => call("Bash", { command: `echo ${text}` }));
  await using model = await scriptedModel(() => steps.shift() ?? say(evil));
  using cli = testCli(model.url);
  const { stdout } = await cli.run(["run", "--mode", "yolo", "go"]);
  expect(stdout).toContain("forged");
  for (const character of ["\u001B", "\u0007"]) expect(stdout).not.toContain(character);
  const [line = ""] = stdout.split("\n").filter((text) => text.includes("日本"));
  const wide = line.match(/[\u2E80-\uA4CF]/g)?.length ?? 0;
  expect(line.length + wide).toBeLessThanOrEqual(80);
});

test("a trace that cannot be written is refused before a session is made", async () => {
  using cli = testCli();
  const { code, stderr } = await cli.run(["run", "--rehearsal", "--trace", "no/such/dir/trace", "hi"]);
  expect(code).toBe(2);
  expect(stderr).toContain("Choose another file");
  expect((await cli.run(["sessions", "list", "--json"])).stdout).toBe("");
});

test("going on with a session refuses what it could only ignore", async () => {
  using cli = testCli();
  const last = await sessionOf(cli, ["hello"]);
  const { code, stderr } = await cli.run(["run", "--rehearsal", "-c", "--allow", "Bash", "again"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--allow");
  const forked = await cli.run(["run", "--rehearsal", "--fork", last, "--max-usd", "1", "again"]);
  expect(forked.code).toBe(2);
  expect(forked.stderr).toContain("--max-usd");
});

test("a limit that was reached is raised for a session that goes on", async () => {
  await using model = await scriptedModel(() => say("ok", { usage: { input_tokens: 60_000, output_tokens: 10 } }));
  using cli = testCli(model.url);
  expect((await cli.run(["run", "--max-usd", "0.31", "spend"])).code).toBe(0);
  const stopped = await cli.run(["run", "-c", "spend"]);
  expect(stopped.code).toBe(4);
  expect(stopped.stderr).toContain("limit of 0.31 USD is reached");
  expect((await cli.run(["run", "-c", "--max-usd", "2", "spend"])).code).toBe(0);
});
