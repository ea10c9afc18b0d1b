import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Approval } from "../../src/core/session/approval.ts";
import { type Cli, testCli } from "../support/cli.ts";
import {
  call,
  type ModelRequest,
  type Reply,
  say,
  scriptedModel,
  type Script,
  toolUse,
} from "../support/scripted-model.ts";
import { CTRL_C, DOWN, ENTER, ESCAPE, terminal, UP } from "./ask-terminal.ts";

const bash =
  (command: string): Script =>
  (request) =>
    request.toolResults.length === 0 ? call("Bash", { command }) : say(`It said: ${request.toolResults[0]?.text}`);

const agentFile = (cli: Cli, more = ""): string[] => {
  writeFileSync(
    join(cli.cwd, "agent.yaml"),
    `name: tester\ninstructions: Work.\ntools: [Bash, Write, Edit, Read, AskUserQuestion]\n${more}`,
  );
  return ["--agent", "agent.yaml"];
};

async function approvals(cli: Cli): Promise<Approval[]> {
  const { stdout } = await cli.run(["approvals", "list", "--all", "--json"]);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Approval);
}

const write: Script = (request) =>
  request.toolResults.length === 0
    ? call("Write", { file_path: "notes.txt", content: "tea\nmilk\u001B[2J\n" })
    : say("Done.");

const options = (...labels: string[]): object[] => labels.map((label) => ({ label, description: `${label}, please` }));

test("a call is asked about with what would run, which rule asked and why; allowed once, it runs", async () => {
  await using model = await scriptedModel(bash("echo one > a.txt; cat a.txt"));
  using cli = testCli(model.url);
  const rule = 'permissions: { ask: [{ rule: "Bash(cat *)", remember: false }] }';
  await using screen = terminal(cli, ["run", ...agentFile(cli, rule), "Work."]);
  await screen.sees("Run echo one > a.txt; cat a.txt");
  await screen.sees("asked by     rule:ask Bash(cat *)");
  await screen.sees("reason       The rule Bash(cat *) requires approval.");
  await screen.sees("runs         echo one\r\n               cat a.txt");
  await screen.sees("Allow once");
  await screen.sees("Later");
  // The rule forbids remembering, so that is not offered.
  expect(screen.text).not.toMatch(/Allow in this|Allow always/);
  // Words that somebody was just writing neither move the choice nor answer.
  screen.type(`just look at all of it${ENTER}`);
  await screen.sees("choose with the arrow keys");
  await screen.sees("Later");
  screen.type(ENTER);
  await screen.sees("✓ Bash");
  await screen.sees("It said: one");
  expect(await screen.end()).toBe(0);
  expect(await approvals(cli)).toMatchObject([{ status: "settled", answer: { behavior: "allow", from: "cli" } }]);
});

test("a change is shown in colour, without colour when NO_COLOR is set", async () => {
  await using model = await scriptedModel(write);
  using cli = testCli(model.url);
  await using coloured = terminal(cli, ["run", ...agentFile(cli), "Work."]);
  await coloured.sees("Allow this?");
  expect(coloured.raw).toContain("\u001B[32m+tea\u001B[39m");
  // What would steer the terminal is written out: the screen shows what is written to the file.
  expect(coloured.text).toContain(String.raw`+milk\u{1b}[2J`);
  coloured.type(`${DOWN.repeat(4)}${ENTER}`);
  expect(await coloured.end()).toBe(0);
  expect(coloured.text).toContain("✗ Write notes.txt denied");
  expect(existsSync(join(cli.cwd, "notes.txt"))).toBe(false);

  await using plain = terminal(cli, ["run", ...agentFile(cli), "Work."], { NO_COLOR: "1" });
  await plain.sees("Allow this?");
  expect(plain.raw).toContain("\n+tea\r\n");
  expect(plain.raw).not.toContain("\u001B[32m");
  plain.type(ENTER);
  expect(await plain.end()).toBe(0);
});

test("the rules to remember are shown, edited and saved; the next such call is not asked about", async () => {
  await using model = await scriptedModel(bash("echo one"));
  using cli = testCli(model.url);
  await using screen = terminal(cli, ["run", ...agentFile(cli), "Work."]);
  await screen.sees("Later");
  screen.type(`${DOWN.repeat(2)}${ENTER}`);
  await screen.sees("Calls matching this rule will run in this project without asking:\r\n  Bash(echo one)");
  await screen.sees("Save this rule?");
  screen.type(`${DOWN}${ENTER}`);
  await screen.sees("Rule:");
  screen.type(`${"\u007F".repeat("one)".length)}${ENTER}`);
  await screen.sees("Expected a closing parenthesis");
  screen.type(`*)${ENTER}`);
  await screen.sees("without asking:\r\n  Bash(echo *)");
  await screen.sees("Save this rule?");
  screen.type(ENTER);
  await screen.sees("It said: one");
  expect(await screen.end()).toBe(0);
  const grants = await cli.run(["grants", "list", "--json"]);
  expect(JSON.parse(grants.stdout)).toMatchObject({ rule: "Bash(echo *)", scope: "project", uses: 0 });
  expect((await cli.run(["run", ...agentFile(cli), "Again."])).code).toBe(0);
});

test("a denial carries its reason; Escape goes back and never ends the turn", async () => {
  await using model = await scriptedModel(bash("echo one > a.txt"));
  using cli = testCli(model.url);
  await using screen = terminal(cli, ["run", ...agentFile(cli), "Work."]);
  await screen.sees("Later");
  screen.type(ESCAPE);
  screen.type(`${DOWN.repeat(5)}${ENTER}`);
  await screen.sees("Reason for the agent:");
  screen.type(ESCAPE);
  await screen.sees("Later");
  screen.type(`${DOWN.repeat(5)}${ENTER}`);
  await screen.sees("Reason for the agent:");
  screen.type(`use the other file${ENTER}`);
  await screen.sees("✗ Bash");
  expect(await screen.end()).toBe(0);
  expect(model.requests.at(-1)?.last).toContain("use the other file");
  expect(existsSync(join(cli.cwd, "a.txt"))).toBe(false);
});

test.each([
  { name: "an editor", editor: "sed -i s/one/two/", keys: "" },
  { name: "a line", editor: "", keys: `${"\u007F".repeat(3)}two${ENTER}` },
])("the input can be edited in $name before it runs", async ({ editor, keys }) => {
  await using model = await scriptedModel(bash("echo one"));
  using cli = testCli(model.url);
  await using screen = terminal(cli, ["run", ...agentFile(cli), "Work."], { EDITOR: editor });
  await screen.sees("Later");
  screen.type(`${DOWN.repeat(6)}${ENTER}`);
  if (keys !== "") await screen.sees("Command to run instead");
  screen.type(keys);
  await screen.sees("command: echo two");
  await screen.sees("Run it once with this input?");
  screen.type(ENTER);
  await screen.sees("✓ Bash echo two");
  await screen.sees("It said: two");
  expect(await screen.end()).toBe(0);
});

test("questions are answered by choice, by several choices and in one's own words, with a note", async () => {
  const questions = [
    { question: "Tea or coffee?", header: "Drink", options: options("Tea", "Coffee"), multiSelect: false },
    { question: "With what?", header: "With", options: options("Milk", "Honey"), multiSelect: true },
  ];
  await using model = await scriptedModel((request) =>
    request.toolResults.length === 0 ? call("AskUserQuestion", { questions }) : say("Thanks."),
  );
  using cli = testCli(model.url);
  await using screen = terminal(cli, ["run", ...agentFile(cli), "Work."]);
  await screen.sees("Tea or coffee? (Drink)");
  await screen.sees("Other…");
  screen.type(`${DOWN}${ENTER}`);
  await screen.sees("With what? (With)");
  await screen.sees("Other…");
  screen.type(` ${DOWN}${DOWN} ${ENTER}`);
  await screen.sees("Your answer:");
  screen.type(`oat${ENTER}`);
  await screen.sees("Send this answer?");
  screen.type(`${DOWN}${ENTER}`);
  await screen.sees("Add a note to which answer?");
  screen.type(ENTER);
  await screen.sees("Your note:");
  screen.type(`strong${ENTER}`);
  await screen.sees("Send this answer?");
  screen.type(ENTER);
  await screen.sees("Thanks.");
  expect(await screen.end()).toBe(0);
  expect(await approvals(cli)).toMatchObject([
    {
      answer: {
        answers: { "Tea or coffee?": "Coffee", "With what?": "Milk, oat" },
        notes: { "Tea or coffee?": "strong" },
      },
    },
  ]);
  expect(model.requests.at(-1)?.last).toContain("Milk, oat");
});

test("two subagents ask one after another; an answer given elsewhere takes the prompt away", async () => {
  await using model = await scriptedModel(twoSubagents);
  using cli = testCli(model.url);
  const helper = "subagents: { helper: { description: helps, instructions: Help., tools: [Bash] } }";
  await using screen = terminal(cli, ["run", ...agentFile(cli, helper), "Work."]);
  await screen.sees(">> effects.txt");
  await screen.sees("tool         Bash, called by the subagent helper");
  await screen.sees("Later");
  await expect.poll(async () => (await approvals(cli)).length, { timeout: 10_000 }).toBe(2);
  const all = await approvals(cli);
  const shown = all.find(({ request }) => screen.text.includes(request.title));
  const other = all.find(({ id }) => id !== shown?.id);
  expect(screen.text).not.toContain(other?.request.title);
  const answered = await cli.run(["approvals", "answer", shown?.id ?? "", "deny", "--as", "Anna"]);
  expect(answered.stdout).toMatch(
    /Denied: .*\nSession [0-9a-f]{8} continues in the process that runs it \(pid \d+\)\.\n/,
  );
  expect(answered.code).toBe(0);
  await screen.sees("was denied by Anna in the meantime.)");
  await screen.sees(other?.request.title ?? "?");
  await screen.sees("Later");
  screen.type(ENTER);
  await screen.sees("All is finished.");
  expect(await screen.end()).toBe(0);
  expect(other?.request.title).toContain(`echo ${readFileSync(join(cli.cwd, "effects.txt"), "utf8").trim()} `);
});

function twoSubagents(request: ModelRequest): Reply {
  const [, name] = /Help with (\w)/.exec(JSON.stringify(request.body.messages[0])) ?? [];
  if (name !== undefined)
    return request.toolResults.length === 0 ? call("Bash", { command: `echo ${name} >> effects.txt` }) : say("Over.");
  if (request.toolResults.length > 0) return say("All is finished.");
  const task = { description: "help", subagent_type: "helper" };
  return { blocks: ["X", "Y"].map((about) => toolUse("Agent", { ...task, prompt: `Help with ${about}` })) };
}

test("Ctrl-C at the question ends the turn; what is left for later is asked about when the session is resumed", async () => {
  await using model = await scriptedModel(bash("echo one"));
  using cli = testCli(model.url);
  await using stopped = terminal(cli, ["run", ...agentFile(cli), "Work."]);
  await stopped.sees("Later");
  stopped.type(CTRL_C);
  expect(await stopped.end()).toBe(130);
  expect(await approvals(cli)).toMatchObject([{ status: "settled", answer: null }]);

  await using left = terminal(cli, ["run", ...agentFile(cli), "Work."]);
  await left.sees("Later");
  left.type(`${UP}${ENTER}`);
  await left.sees("An approval is waiting in session");
  expect(await left.end()).toBe(5);

  await using resumed = terminal(cli, ["run", "--continue"]);
  await resumed.sees("Run echo one");
  await resumed.sees("Later");
  resumed.type(ENTER);
  await resumed.sees("It said: one");
  expect(await resumed.end()).toBe(0);
});

test("a terminal that goes away answers nothing: the approval stays open", async () => {
  await using model = await scriptedModel(bash("echo one >> effects.txt"));
  using cli = testCli(model.url);
  await using screen = terminal(cli, ["run", ...agentFile(cli), "Work."]);
  await screen.sees("Later");
  await screen.drop();
  const idle = async (): Promise<string> => (await cli.run(["sessions", "list", "--json"])).stdout;
  await expect.poll(idle, { timeout: 10_000 }).toContain('"status":"idle"');
  const [approval] = await approvals(cli);
  expect(approval?.status).toBe("pending");
  const answered = await cli.run(["approvals", "answer", approval?.id ?? "", "allow", "--no-resume"]);
  expect(answered.code).toBe(0);
  const resume = async (): Promise<number | null> => (await cli.run(["run", "--continue"])).code;
  await expect.poll(resume, { timeout: 20_000 }).toBe(0);
  expect(readFileSync(join(cli.cwd, "effects.txt"), "utf8")).toBe("one\n");
});

test("a plan is shown and approved", async () => {
  const plan = "1. Look around\n2. Write it down";
  await using model = await scriptedModel((request) =>
    request.toolResults.length === 0 ? call("ExitPlanMode", { plan }) : say("Planned."),
  );
  using cli = testCli(model.url);
  await using screen = terminal(cli, ["run", ...agentFile(cli), "--mode", "plan", "Plan it."]);
  await screen.sees("2. Write it down");
  await screen.sees("Approve this plan?");
  screen.type(ENTER);
  await screen.sees("Planned.");
  expect(await screen.end()).toBe(0);
});

test("the result of a custom tool can be written at the terminal", async () => {
  await using model = await scriptedModel((request) =>
    request.toolResults.length === 0
      ? call("mcp__capstan__lookup", { key: "colour" })
      : say(`It said: ${request.toolResults[0]?.text}`),
  );
  using cli = testCli(model.url);
  const tool = "custom_tools: [{ name: lookup, description: Looks up., input_schema: { type: object } }]\n";
  await using screen = terminal(cli, ["run", ...agentFile(cli, tool), "Work."]);
  await screen.sees('lookup {"key":"colour"}');
  await screen.sees("What does the tool return?");
  await screen.sees("Later");
  screen.type(ENTER);
  await screen.sees("Result:");
  screen.type(`blue${ENTER}`);
  await screen.sees("It said: blue");
  expect(await screen.end()).toBe(0);
  expect(await approvals(cli)).toMatchObject([{ request: { kind: "custom_tool" }, answer: { from: "cli" } }]);
});
