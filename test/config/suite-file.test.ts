import { mkdirSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readSuite } from "../../src/config/suite/suite-file.ts";
import { findSuites } from "../../src/config/suite/suite-files.ts";
import { temporaryDirectory } from "../support/host.ts";
import { writeTree } from "../support/suites.ts";
import { EVERYTHING } from "../support/trust.ts";

const directory = temporaryDirectory();
const { path } = directory;
afterAll(() => directory[Symbol.dispose]());
const environment = { HOME: join(path, "home"), CAPSTAN_HOME: join(path, "home") };

writeTree(path, {
  "agent.yaml":
    "name: helper\ninstructions: You help {{person}}.\ninputs: { person: { type: string, default: Ada } }\n",
  "needy.yaml": "name: needy\ninstructions: You help {{person}}.\ninputs: { person: { type: string } }\n",
  "fixture/a.txt": "a",
  "file.txt": "no directory",
});

async function suite(text: string, name = "x.test.yaml") {
  writeTree(path, { [name]: text });
  return (await readSuite(join(path, name), environment, EVERYTHING)).suite;
}

test("what a suite says for all its cases holds for those that do not say otherwise", async () => {
  const { cases, name, agent } = await suite(`
defaults:
  trials: 3
  tags: [all]
  timeout: 90s
  files: { a.txt: a, b.txt: b }
  answers: [{ tool: Write, decision: deny }]
  graders: [{ contains: ok }]
  inputs: { person: Grace }
cases:
  - { name: one, input: Hello }
  - name: two
    trials: 1
    tags: [own]
    turns: [{ input: Hello }, { input: And now?, interrupt_after: { tool_calls: 2 } }]
    files: { b.txt: other }
    answers: [{ tool: Write, decision: allow }]
    stop_reason: end_turn
    graders: [{ equals: yes }]
`);
  expect({ name, agent: agent.name }).toEqual({ name: "x", agent: "helper" });
  expect(cases).toMatchObject([
    {
      name: "one",
      place: expect.stringMatching(/x\.test\.yaml:11$/) as string,
      trials: 3,
      tags: ["all"],
      timeoutMs: 90_000,
      files: { "a.txt": "a", "b.txt": "b" },
      turns: [{ input: "Hello" }],
      graders: [{ kind: "contains", given: "ok" }],
      inputs: { person: "Grace" },
    },
    {
      name: "two",
      trials: 1,
      tags: ["all", "own"],
      files: { "a.txt": "a", "b.txt": "other" },
      turns: [{ input: "Hello" }, { input: "And now?", interruptAfter: { toolCalls: 2 } }],
      answers: [{ decision: "allow" }, { decision: "deny" }],
      graders: [{ kind: "stop_reason", given: "end_turn" }, { kind: "contains" }, { kind: "equals", given: "yes" }],
    },
  ]);
});

test("an agent file may have its suite in it", async () => {
  const text = "name: own\ninstructions: You help.\ntests:\n  cases:\n    - { name: one, input: Hello }\n";
  const { name, agent, cases } = await suite(text, "own/agent.yaml");
  expect({ name, agent: agent.name, cases: cases.map((one) => one.name) }).toEqual({
    name: "own",
    agent: "own",
    cases: ["one"],
  });
  await expect(suite("name: own\ninstructions: You help.\n", "bare/agent.yaml")).rejects.toThrow(
    "expected tests: with cases (found an agent file without them)",
  );
  await expect(
    suite(`${text}      trails: 3\n`.replace("{ name: one, input: Hello }", "name: one"), "bad/agent.yaml"),
  ).rejects.toThrow('6:7 tests.cases.0.trails: unknown key; did you mean "trials"?');
});

const one = (more: string): string => `cases:\n  - name: one\n    input: Hello\n${more}`;

describe("a mistake is told with its place and what was expected", () => {
  test.each<[string, string, string]>([
    ["no cases", "cases: []", "1:8 cases: expected"],
    ["an unknown key", one("    gradrs: []"), '4:5 cases.0.gradrs: unknown key; did you mean "graders"?'],
    ["neither input nor turns", "cases:\n  - name: one", "expected either input or turns in the case"],
    ["both input and turns", one("    turns: [{ input: x }]"), "expected either input or turns in the case"],
    [
      "two cases of one name",
      `${one("")}  - name: one\n    input: Again`,
      "cases.1.name: expected another name (case 1 already has it)",
    ],
    [
      "two cases that would share a cassette",
      `${one("")}  - name: One!\n    input: Again`,
      "cases.1.name: expected another name (case 1 has one with the same file name)",
    ],
    ["a duration that is none", one("    timeout: soon"), '"soon" is not a duration'],
    ["a fixture that is not there", one("    fixture: nowhere"), "cases.0.fixture: expected a directory (not found:"],
    ["a fixture that is a file", one("    fixture: file.txt"), "file.txt is a file)"],
    ["a file outside of the workspace", one("    files: { ../x: y }"), "expected a path inside the workspace"],
    [
      "a pattern that takes too long",
      one("    ignore: ['(a+)+b']"),
      "cases.0.ignore.0: the pattern could take too long",
    ],
    ["a pattern that is none", one("    ignore: ['(']"), "cases.0.ignore.0: character 2: expected a closing )"],
    [
      "no grader",
      one("    graders: [{ name: x }]"),
      "cases.0.graders.0: expected one grader (found none); known graders: equals,",
    ],
    [
      "two graders in one",
      one("    graders: [{ equals: a, contains: b }]"),
      "expected one grader (found equals and contains)",
    ],
    [
      "a turn for a grader of the whole trial",
      one("    graders: [{ tool_count: 1, turn: 1 }]"),
      "tool_count checks the whole trial, so it has no turn",
    ],
    [
      "a judge that nobody named",
      one("    graders: [{ rubric: { criteria: Kind, threshold: 0.5 } }]"),
      "expected the model that judges",
    ],
    [
      "an input that the agent does not have",
      one("    inputs: { preson: x }"),
      "cases.0.inputs: The agent's inputs are not valid",
    ],
    ["an input that is missing", `agent: needy.yaml\n${one("")}`, "person is missing"],
    ["a fault of an unknown kind", one("    faults: [{ at: 1, kind: 418 }]"), "cases.0.faults.0.kind"],
    ["an agent that is not there", `agent: nobody.yaml\n${one("")}`, "nobody.yaml"],
    ["a gate that is no share", `gates: { pass_rate: 90 }\n${one("")}`, "1:21 gates.pass_rate: expected"],
    [
      "a fixture where none is copied",
      one("    workspace: here\n    fixture: fixture"),
      "5:14 cases.0.fixture: nothing is written to the suite's own directory (workspace: here); remove this, or workspace",
    ],
    ["files where none are written", one("    workspace: here\n    files: { a: b }"), "5:12 cases.0.files: nothing is"],
    ["a repository where none is made", one("    workspace: here\n    git: true"), "5:10 cases.0.git: nothing is"],
    [
      "a turn that the case does not have",
      one("    graders:\n      - { contains: x, turn: 5 }"),
      "5:30 cases.0.graders.0.turn: expected a turn up to 1, the last that the case has (found 5)",
    ],
    [
      "a turn that not every case has",
      `defaults: { graders: [{ contains: x, turn: 2 }] }\n${one("")}  - { name: two, turns: [{ input: a }, { input: b }] }`,
      "1:44 defaults.graders.0.turn: expected a turn up to 1, the last that every case has (found 2)",
    ],
    [
      "an end that no turn has",
      one("    graders: [{ stop_reason: requires_action }]"),
      "4:30 cases.0.graders.0.stop_reason: expected one of end_turn, budget_reached, refusal, retries_exhausted",
    ],
    [
      "the same of the case",
      one("    stop_reason: requires_action"),
      "4:18 cases.0.stop_reason: expected one of end_turn, budget_reached",
    ],
    [
      "a value of what must not exist",
      one("    graders: [{ json: { path: $.a, exists: false, equals: 1 } }]"),
      "4:44 cases.0.graders.0.json.exists: a value that must not exist cannot be checked; remove exists, or equals",
    ],
    [
      "a pattern of output that must not exist",
      one("    graders: [{ output: { path: $.a, exists: false, matches: x } }]"),
      "cases.0.graders.0.output.exists: a value that must not exist cannot be checked; remove exists, or matches",
    ],
    [
      "a module that is not there",
      one("    graders: [{ code: { module: none.mjs } }]"),
      "4:33 cases.0.graders.0.code.module: expected a file (not found:",
    ],
    [
      "a schema that is not there",
      one("    graders: [{ json_schema: none.json }]"),
      "json_schema: expected a file (not found:",
    ],
    [
      "a schema of output that is not there",
      one("    graders: [{ output: { schema: none.json } }]"),
      "graders.0.output.schema: expected a file (not found:",
    ],
    [
      "a file to compare with that is not there",
      one("    graders: [{ files: { same_as: { a.txt: none.txt } } }]"),
      'files.same_as."a.txt": expected a file (not found:',
    ],
  ])("%s", async (_what, text, problem) => {
    await expect(suite(text)).rejects.toThrow(problem);
  });
});

test("what says nothing against the suite's own directory may stand beside it", async () => {
  const { cases } = await suite(`defaults: { fixture: fixture, git: true }
cases:
  - { name: one, input: Hello, workspace: here, git: false }
`);
  expect(cases).toMatchObject([{ workspace: "here" }]);
});

test("graders may name files beside the suite", async () => {
  const { cases } = await suite(
    one(`    graders:
      - json_schema: file.txt
      - output: { schema: file.txt }
      - code: { module: ./file.txt }
      - files: { same_as: { x: fixture/a.txt } }
`),
  );
  expect(cases[0]?.graders).toHaveLength(4);
});

describe("a mistake in what all cases share is told once, where it stands", () => {
  const cases = `cases:
  - { name: one, input: Hello }
  - { name: two, input: Hello, files: { b.txt: b }, inputs: { person: Grace } }
  - { name: three, input: Hello }
`;
  test.each<[string, string, string]>([
    ["a duration", "timeout: soon", 'defaults.timeout: "soon" is not a duration'],
    ["a fixture", "fixture: nowhere", "defaults.fixture: expected a directory (not found:"],
    ["a file", "files: { ../x: y }", 'defaults.files."../x": expected a path inside the workspace'],
    ["a pattern", "ignore: ['(']", "defaults.ignore.0: character 2: expected a closing )"],
    ["a grader", "graders: [{ name: x }]", "defaults.graders.0: expected one grader"],
    [
      "an input",
      "inputs: { preson: x }",
      "defaults.inputs: The agent's inputs are not valid: unknown input preson; did you mean person?",
    ],
  ])("%s", async (_what, text, problem) => {
    // One line, and no other.
    await expect(suite(`defaults: { ${text} }\n${cases}`)).rejects.toThrow(/^.*x\.test\.yaml:1:\d+ defaults\.[^\n]*$/);
    await expect(suite(`defaults: { ${text} }\n${cases}`)).rejects.toThrow(problem);
  });

  test("what a case says itself is its own", async () => {
    const told = suite(`defaults: { timeout: 2m, inputs: { person: Grace } }
cases:
  - { name: one, input: Hello, timeout: soon }
  - { name: two, input: Hello, inputs: { preson: x } }
`);
    await expect(told).rejects.toThrow(/:3:\d+ cases\.0\.timeout: .*\n.*:4:\d+ cases\.1\.inputs: /);
  });
});

test("cases in any script, and with long names, are told apart", async () => {
  const long = "a".repeat(90);
  const { cases } = await suite(`cases:
  - { name: Привет, input: x }
  - { name: 世界, input: x }
  - { name: ${long}1, input: x }
  - { name: ${long}2, input: x }
`);
  expect(cases).toHaveLength(4);
});

test("a path in what a call must have is no pattern", async () => {
  await suite(one("    graders: [{ tool_call: { tool: Read, input: { file_path: /srv/(app/i } } }]"));
  await expect(suite(one("    graders: [{ regex: /srv/app/i }]"))).rejects.toThrow(
    "cases.0.graders.0.regex: expected a regular expression (write a slash inside a pattern as \\/",
  );
});

test("suites are found below a directory, but not among cassettes and packages", () => {
  const root = join(path, "found");
  writeTree(root, {
    "b/two.test.yaml": "",
    "a.test.yml": "",
    "agent.yaml": "name: x\ntests:\n  cases: []\n",
    "c/agent.yaml": "name: without\n",
    "cassettes/a.test.yaml": "",
    "node_modules/p/x.test.yaml": "",
  });
  mkdirSync(join(root, "d"));
  symlinkSync(root, join(root, "d/again"));
  expect(findSuites([root])).toEqual(["a.test.yml", "agent.yaml", "b/two.test.yaml"].map((name) => join(root, name)));
  const twice = [root, join(root, "a.test.yml"), `${root}/./b/../b/two.test.yaml`, relative(".", root)];
  expect(findSuites(twice)).toEqual(findSuites([root]));
  expect(() => findSuites([join(root, "d")])).toThrow(/No suite .* found/);
  expect(() => findSuites([join(root, "nowhere")])).toThrow(/nowhere does not exist\. Pass a suite/);
});
