import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { openStore } from "../../src/app/open-store.ts";
import { thisProcess } from "../../src/app/host/processes.ts";
import { openHost } from "../../src/app/open-host.ts";
import type { Approval } from "../../src/core/session/approval.ts";
import { type Cli, collect, exitOf, preparedCli, testCli } from "../support/cli.ts";
import { agent, testEnvironment } from "../support/host.ts";
import { call, say, scriptedModel, type Script, toolUse } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

const bash =
  (command: string): Script =>
  (request) =>
    request.toolResults.length === 0 ? call("Bash", { command }) : say(`It said: ${request.toolResults[0]?.text}`);

const effects = (cli: Cli): string =>
  existsSync(join(cli.cwd, "effects.txt")) ? readFileSync(join(cli.cwd, "effects.txt"), "utf8") : "";

/** A run that ends because somebody must be asked; the approval it left. */
async function runUntilAsked(cli: Cli): Promise<Approval> {
  expect((await cli.run(["run", "Work."])).code).toBe(5);
  const { stdout } = await cli.run(["approvals", "list", "--json"]);
  return JSON.parse(stdout) as Approval;
}

/** Where a run has ended so, and left this one. */
const waiting = preparedCli(async (open) => {
  await using model = await scriptedModel(bash(COMMAND));
  using cli = open(model.url);
  return await runUntilAsked(cli);
});
const COMMAND = "echo A >> effects.txt; echo done";

const QUESTIONS = [
  {
    question: "1+1=?",
    header: "Sum",
    options: [
      { label: "two", description: "2" },
      { label: "three", description: "3" },
    ],
    multiSelect: false,
  },
  {
    question: "Which tests?",
    header: "Tests",
    options: [
      { label: "unit", description: "fast" },
      { label: "soak", description: "slow" },
    ],
    multiSelect: true,
  },
];
const questions: Script = (request) =>
  request.toolResults.length === 0 ? call("AskUserQuestion", { questions: QUESTIONS }) : say("Thanks.");
const asker = (cli: Cli): string[] => {
  writeFileSync(join(cli.cwd, "agent.yaml"), "name: asker\ninstructions: Ask.\ntools: [AskUserQuestion, Bash]\n");
  return ["--agent", "agent.yaml"];
};

const clerk = (cli: Cli): string[] => {
  const tool = "{ name: lookup, description: Looks up., input_schema: { type: object } }";
  writeFileSync(join(cli.cwd, "clerk.yaml"), `name: clerk\ninstructions: Work.\ncustom_tools: [${tool}]\n`);
  return ["--agent", "clerk.yaml"];
};
const lookup: Script = (request) =>
  request.toolResults.length === 0
    ? call("mcp__capstan__lookup", { key: "colour" })
    : say(`It said: ${request.toolResults[0]?.text}`);

test("a custom tool ends the run with 5, is not answered by --yes, and takes a result or a denial with a reason", async () => {
  await using model = await scriptedModel(lookup);
  using cli = testCli(model.url);
  const { code, stderr } = await cli.run(["run", ...clerk(cli), "--yes", "Work."]);
  expect(code).toBe(5);
  const [, id = "?"] = /capstan approvals answer ([0-9a-f]{8}) allow --result "…"\n/.exec(stderr) ?? [];
  expect(stderr).toContain(`${id}  lookup {"key":"colour"}\n`);
  const shown = await cli.run(["approvals", "show", id]);
  expect(shown.stdout).toMatch(/kind +custom_tool\n/);
  expect(shown.stdout).toContain("key          colour");

  const wrong = async (...args: string[]): Promise<string> => {
    const result = await cli.run(["approvals", "answer", id, ...args]);
    expect(result.code).toBe(2);
    return result.stderr;
  };
  expect(await wrong("allow")).toContain('Add --result "…", or answer deny.');
  expect(await wrong("deny")).toContain('Add --message "…"');
  expect(await wrong("allow", "--result", "@nowhere.txt")).toContain("--result: cannot read nowhere.txt");

  writeFileSync(join(cli.cwd, "result.txt"), "blue");
  const answered = await cli.run(["approvals", "answer", id, "allow", "--result", "@result.txt"]);
  expect(answered.stdout).toMatch(/^Answered: lookup .*\n✓ lookup .*\n\nIt said: blue\n/);
  expect(answered.code).toBe(0);
});

test("--result is for custom tools, and a custom tool can be denied for the whole run", async () => {
  await using model = await scriptedModel(lookup);
  using cli = await waiting(model.url);
  const { code, stderr } = await cli.run(["approvals", "answer", cli.made.id, "allow", "--result", "x"]);
  expect(code).toBe(2);
  expect(stderr).toContain("--result is for custom tools");

  const denied = await cli.run(["run", ...clerk(cli), "--deny", "Work."]);
  expect(denied.code).toBe(0);
  expect(denied.stdout).toMatch(/✗ lookup .*denied/);
});

test("without a terminal an approval ends the run with 5 and the command that answers it, also with --json", async () => {
  await using model = await scriptedModel(bash("echo A >> effects.txt"));
  using cli = testCli(model.url);
  const { code, stderr } = await cli.run(["run", "Work."]);
  expect(code).toBe(5);
  const [, id] = /capstan approvals answer ([0-9a-f]{8}) allow\n/.exec(stderr) ?? [];
  expect(stderr).toMatch(/^capstan: An approval is waiting in session [0-9a-f]{8}\. Answer with allow or deny:\n/);
  expect(stderr).toContain(`${id}  Run echo A >> effects.txt\n`);

  const json = await cli.run(["run", "--json", "Work."]);
  expect(json.code).toBe(5);
  expect(json.stderr).toContain("capstan approvals answer");
  expect(
    json.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type),
  ).toContain("capstan.approval_requested");

  const list = await cli.run(["sessions", "list"]);
  expect(list.stdout.match(/ waiting /g)).toHaveLength(2);
  const [, session = "?"] = /session ([0-9a-f]{8})\./.exec(stderr) ?? [];
  expect((await cli.run(["sessions", "show", session])).stdout).toContain(`capstan approvals answer ${id} allow`);
  expect(effects(cli)).toBe("");
});

test("answering goes on with the session when nobody drives it, and ends as the run would", async () => {
  await using model = await scriptedModel(bash(COMMAND));
  using cli = await waiting(model.url);
  const { id, sessionId } = cli.made;
  const { code, stdout, stderr } = await cli.run(["approvals", "answer", id.slice(-8), "allow"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Allowed: Run echo A .*\n✓ Bash echo A .*\n\nIt said: done\n/);
  expect(effects(cli)).toBe("A\n");
  const events = await cli.run(["sessions", "show", sessionId, "--json"]);
  expect(events.stdout).toContain(`"by":"${userInfo().username}","from":"cli"`);

  const again = await cli.run(["approvals", "answer", id, "deny"]);
  expect(again.code).toBe(2);
  expect(again.stderr).toMatch(
    /^capstan: Approval appr_\w+ was already answered with "allow" by .*first answer counts\.\n$/,
  );
  expect(model.requests).toHaveLength(1);
});

test("an answer that the driver leaves without seeing is acted on by the command that gave it", async () => {
  await using model = await scriptedModel(bash(COMMAND));
  using cli = await waiting(model.url);
  const { id, sessionId } = cli.made;
  // A process that holds the session, does nothing for it, and ends.
  const driver = spawn("sleep", ["600"]);
  await using store = await openStore(join(cli.home, ".capstan"), {});
  const owner = { ...thisProcess("host_leaving"), pid: driver.pid ?? 0 };
  await store.leases.acquire(sessionId, owner, 600_000);
  const answering = cli.run(["approvals", "answer", id.slice(-8), "allow"]);
  await expect.poll(async () => (await store.approvals.get(id))?.status, { interval: 20 }).toBe("answered");
  driver.kill("SIGKILL");
  const { code, stdout } = await answering;
  expect([code, stdout]).toEqual([0, expect.stringContaining("It said: done")]);
  expect(effects(cli)).toBe("A\n");
});

test("calls that were asked about together run to the end when the last of them is answered", async () => {
  await using model = await scriptedModel((request) =>
    request.toolResults.length === 0
      ? { blocks: ["one", "two", "three"].map((name) => toolUse("Read", { file_path: join(cli.home, name) })) }
      : say(`I read ${request.toolResults.map(({ text }) => text.replace(/^.*\t/, "")).join(", ")}.`),
  );
  using cli = testCli(model.url);
  for (const name of ["one", "two", "three"]) writeFileSync(join(cli.home, name), `the text of ${name}`);
  expect((await cli.run(["run", "Read all."])).code).toBe(5);
  const { stdout } = await cli.run(["approvals", "list", "--json"]);
  const [first, ...others] = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as Approval).id);
  expect(others).toHaveLength(2);
  for (const id of [first, others[0]]) expect((await cli.run(["approvals", "answer", id ?? "", "allow"])).code).toBe(5);
  const last = await cli.run(["approvals", "answer", others[1] ?? "", "allow"]);
  expect(last.stderr).toBe("");
  expect(last.code).toBe(0);
  expect(last.stdout).toContain("I read the text of one, the text of two, the text of three.");
});

test("a denial tells the agent why; an edited input runs instead", async () => {
  await using model = await scriptedModel(bash(COMMAND));
  using cli = await waiting(model.url);
  const { code, stdout } = await cli.run(["approvals", "answer", cli.made.id, "deny", "--message", "not now"]);
  expect(code).toBe(0);
  expect(stdout).toContain("✗ Bash");
  expect(model.requests.at(-1)?.last).toContain("not now");

  const edited = await runUntilAsked(cli);
  writeFileSync(join(cli.cwd, "input.json"), JSON.stringify({ command: "echo B >> effects.txt" }));
  await cli.run(["approvals", "answer", edited.id, "allow", "--input", "@input.json", "--as", "Anna"]);
  expect(effects(cli)).toBe("B\n");
  const shown = await cli.run(["approvals", "show", edited.id]);
  expect(shown.stdout).toContain("allow by Anna from cli");
});

test("--no-resume only stores the answer; the session goes on when it is resumed, without a prompt", async () => {
  await using model = await scriptedModel(bash(COMMAND));
  using cli = await waiting(model.url);
  const { id, sessionId } = cli.made;
  const { code, stdout } = await cli.run(["approvals", "answer", id, "allow", "--no-resume"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`Continue with: capstan run --resume ${sessionId.slice(-8)}`);
  expect(effects(cli)).toBe("");
  expect((await cli.run(["run", "--resume", sessionId])).code).toBe(0);
  expect(effects(cli)).toBe("A\n");
  const over = await cli.run(["run", "--resume", sessionId]);
  expect(over.code).toBe(2);
  expect(over.stderr).toContain("The prompt is missing.");
});

test("an answer without a credential is stored all the same, and says how to go on", async () => {
  await using model = await scriptedModel(bash(COMMAND));
  using cli = await waiting(model.url);
  const { id, sessionId } = cli.made;
  const environment = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
  const { code, stderr } = await cli.run(["approvals", "answer", id, "allow"], { environment });
  expect(code).toBe(2);
  expect(stderr).toContain(`The answer is saved. Continue with: capstan run --resume ${sessionId.slice(-8)}`);
  expect((await cli.run(["run", "--resume", sessionId])).code).toBe(0);
  expect(effects(cli)).toBe("A\n");
});

test("--yes allows once and says who; --deny denies; a question is nothing that --yes can answer", async () => {
  await using model = await scriptedModel(bash("echo A >> effects.txt"));
  using cli = testCli(model.url);
  expect((await cli.run(["run", "--yes", "Work."])).code).toBe(0);
  expect(effects(cli)).toBe("A\n");
  expect((await cli.run(["run", "--deny", "Work."])).code).toBe(0);
  expect(effects(cli)).toBe("A\n");
  expect(model.requests.at(-1)?.last).toContain("started with --deny");
  const { stdout } = await cli.run(["approvals", "list", "--all", "--json"]);
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as Approval).answer);
  expect(answers).toMatchObject([
    { behavior: "allow", by: "--yes", from: "cli" },
    { behavior: "deny", by: "--deny", from: "cli" },
  ]);
  expect((await cli.run(["grants", "list"])).stdout).toBe("No remembered answers.\n");
  const both = await cli.run(["run", "--yes", "--deny", "Work."]);
  expect([both.code, both.stderr]).toEqual([2, "capstan: --yes and --deny cannot be combined. Use one of them.\n"]);
});

test("a question is answered by its words, its header or its number", async () => {
  await using model = await scriptedModel(questions);
  using cli = testCli(model.url);
  const first = await cli.run(["run", ...asker(cli), "--yes", "Work."]);
  expect(first.code).toBe(5);
  expect(first.stderr).toContain('allow --answer "1=…" --answer "2=…"');
  const pending = JSON.parse((await cli.run(["approvals", "list", "--json"])).stdout) as Approval;
  const shown = await cli.run(["approvals", "show", pending.id]);
  expect(shown.stdout).toContain("1+1=?\n  - two: 2\n  - three: 3\n");

  const answer = (...flags: string[]) => cli.run(["approvals", "answer", pending.id, "allow", ...flags]);
  const missing = await answer("--answer", "1+1=?=two");
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain("Missing answer to: Which tests? Add --answer");
  const unknown = await answer("--answer", "Why?=so");
  expect(unknown.code).toBe(2);
  expect(unknown.stderr).toContain("matches none of the agent's questions: 1. 1+1=? / 2. Which tests?");

  const flags = ["--answer", "1+1=?=two", "--answer", "2=unit", "--answer", "Tests=all=of them", "--note", "2=soon"];
  const { code, stdout } = await answer(...flags);
  expect(code).toBe(0);
  expect(stdout).toContain("Thanks.");
  const { stdout: settled } = await cli.run(["approvals", "show", pending.id, "--json"]);
  expect((JSON.parse(settled) as Approval).answer).toMatchObject({
    answers: { "1+1=?": "two", "Which tests?": "unit, all=of them" },
    notes: { "Which tests?": "soon" },
  });
});

test("wait blocks until somebody is needed, and gives up after its time with 4", async () => {
  await using model = await scriptedModel(bash("echo A"));
  using cli = testCli(model.url);
  const late = await cli.run(["approvals", "wait", "--timeout", "50ms"]);
  expect(late.code).toBe(4);
  expect(late.stderr).toContain("within 50ms");
  const waiting = cli.start(["approvals", "wait", "--timeout", "60s"]);
  const seen = collect(waiting.stdout);
  await cli.run(["run", "Work."]);
  expect(await exitOf(waiting)).toBe(0);
  expect(seen.text).toMatch(/waiting .* Run echo A\n/);
  expect((await cli.run(["approvals", "wait", "--json"])).stdout).toContain('"title":"Run echo A"');
});

test("wrong answers are refused in a sentence, and leave the approval open", async () => {
  using cli = await waiting();
  const { id } = cli.made;
  const wrong: [string[], RegExp][] = [
    [["answer", "ffffffff", "allow"], /No approval ffffffff found\. To list them: capstan approvals list --all/],
    [["answer", "ff", "allow"], /too short to identify an approval/],
    [["show", "nothing-like-it"], /No approval nothing-like-it found/],
    [["answer", id, "maybe"], /Allowed choices are allow, deny/],
    [
      ["answer", id, "allow", "--scope", "project", "--rule", "Bash("],
      /--rule Bash\( cannot be remembered: Expected a closing/,
    ],
    [["answer", id, "allow", "--scope", "project", "--rule", "*"], /cannot be remembered: Expected a tool/],
    [["answer", id, "allow", "--rule", "Bash(echo *)"], /only remembered with a scope/],
    [["answer", id, "deny", "--scope", "always"], /A denial is not remembered/],
    [["answer", id, "allow", "--message", "no"], /--message is the reason for a denial/],
    [["answer", id, "allow", "--input", "{"], /--input: Cannot read the input/],
    [["answer", id, "allow", "--input", "[1]"], /--input: The input must be an object/],
    [["answer", id, "allow", "--input", "@no.json"], /--input: cannot read no\.json/],
    [["answer", id, "allow", "--answer", "a=b"], /--answer and --note are for questions/],
    [["wait", "--timeout", "soon"], /"soon" is not a duration/],
  ];
  const results = await Promise.all(wrong.map(([args]) => cli.run(["approvals", ...args])));
  for (const [index, { code, stderr }] of results.entries()) {
    expect(stderr).toMatch(wrong[index]?.[1] ?? /never/);
    expect(code, stderr).toBe(2);
  }
  expect((await cli.run(["approvals", "list", "--json"])).stdout).toContain(id);
});

test("one that has expired cannot be answered, and is not listed as waiting", async () => {
  await using model = await scriptedModel(bash("echo A"));
  using cli = testCli(model.url);
  await using host = await openHost({
    home: join(cli.home, ".capstan"),
    engine: TEST_ENGINE,
    environment: testEnvironment(model.url),
  });
  const hasty = agent({ tools: ["Bash"], permissions: { approvals_expire_ms: 700 } });
  await using session = await host.startSession({ agent: hasty, cwd: cli.cwd });
  await session.send("Work.").result();
  await session.close();
  const { id } = JSON.parse((await cli.run(["approvals", "list", "--all", "--json"])).stdout) as Approval;
  await expect.poll(async () => (await cli.run(["approvals"])).stdout).toBe("No pending approvals.\n");
  const { code, stderr } = await cli.run(["approvals", "answer", id, "allow"]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/expired at .* counts as denied/);
});
