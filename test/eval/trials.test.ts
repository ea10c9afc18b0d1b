import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CaseRun } from "../../src/core/suite/suite-run.ts";
import { temporaryDirectory } from "../support/host.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";

const AGENT = `
name: helper
instructions: You help.
model: claude-opus-4-8
tools: [Read, Write, Bash, Glob]
permissions: { deny: ["Bash(rm *)"] }
`;

const SUITE = `
agent: agent.yaml
defaults: { timeout: 30s }
cases:
  - name: answers as the case says
    turns:
      - input: write out.txt with hello
      - input: write no.txt with hello
      - input: run rm out.txt
    answers:
      - { tool: Write, with: { file_path: /no/ }, decision: deny, message: Not that one. }
      - { tool: Write, decision: allow }
    graders:
      - files: { content: { out.txt: hello }, missing: [no.txt] }
      - only_changed: [out.txt]
      - decisions: [{ tool: Bash, decision: deny, by: "Bash(rm *)" }]
      - tools_in_order: [Write, Write, Bash]
      - { contains: Wrote out.txt, turn: 1 }
  - name: has no answer
    input: write out.txt with hello
  - name: never ends
    timeout: 2s
    input: run sleep 60
    answers: [{ tool: Bash, decision: allow }]
  - name: is interrupted
    turns: [{ input: run sleep 60, interrupt_after: { tool_calls: 1 } }, { input: list files }]
    answers: [{ tool: Bash, decision: allow }]
    graders: [{ tool_call: { tool: Bash, outcome: aborted } }, { tools_called: [Glob] }]
  - name: is a repository, with variables
    git: true
    fixture: fixture
    files: { b.txt: b }
    variables: { COLOUR: blue }
    input: run git status --short; git log --format=%s; echo $COLOUR; cat a.txt b.txt
    answers: [{ tool: Bash, decision: allow }]
    graders: [{ regex: 'The fixture\\nblue\\nab' }, { only_changed: [] }]
  - name: leaves what cannot be read
    input: run mkfifo pipe; touch closed; chmod 000 closed; ln -s nowhere link
    answers: [{ tool: Bash, decision: allow }]
    graders: [{ only_changed: [pipe, closed, link] }]
  - name: has a grader that never ends
    timeout: 10s
    input: list files
    graders: [{ tools_called: [Glob] }, { command: { run: sleep 60, timeout: 5m } }]
  - name: has a fault that never comes
    input: list files
    faults: [{ at: 9, kind: 529 }]
  - name: removes its workspace
    input: run find . -delete; rmdir "$PWD"
    answers: [{ tool: Bash, decision: allow }]
    graders: [{ tools_called: [Bash] }]
  - name: works here
    workspace: here
    input: list files
  - name: has a fixture that leads out
    fixture: links
    input: list files
  - name: fails twice of three
    trials: 3
    pass_rate: 0.3
    input: list files
    graders: [{ code: { module: ./every-third.mjs } }]
  - name: has a grader that throws
    input: list files
    graders: [{ code: { module: ./throws.mjs } }]
`;

const told = (one: CaseRun | undefined): string =>
  [
    one?.reason ?? "",
    ...(one?.trials ?? []).flatMap(({ error, verdicts }) => [
      error ?? "",
      ...verdicts.filter(({ passed }) => !passed).map(({ message }) => message),
    ]),
  ].join("\n");

test("cases are carried out as they say, and one that cannot be does not keep the others", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  writeTree(path, {
    "agent.yaml": AGENT,
    "all.test.yaml": SUITE,
    "fixture/a.txt": "a",
    "links/a.txt": "a",
    "every-third.mjs": `import { existsSync, writeFileSync } from "node:fs";
const mark = new URL("./mark", import.meta.url);
export default () => { const was = existsSync(mark); writeFileSync(mark, ""); return { passed: !was, message: "the first only" }; };\n`,
    "throws.mjs": "export default () => { throw new Error('out of order'); };\n",
  });
  symlinkSync("/etc", join(path, "links/etc"));
  const { run } = await runSuiteFile(join(path, "all.test.yaml"), "rehearsal", { home: join(path, "home") });
  const cases = new Map(run.suites[0]?.cases.map((one) => [one.case, one]));
  const statuses = Object.fromEntries([...cases].map(([name, { status }]) => [name, status]));
  const why = (name: string): string => told(cases.get(name));

  expect(why("answers as the case says")).toBe("\n");
  expect(why("is interrupted")).toBe("\n");
  expect(why("is a repository, with variables")).toBe("\n");
  expect(statuses).toEqual({
    "answers as the case says": "passed",
    "has no answer": "failed",
    "never ends": "error",
    "is interrupted": "passed",
    "is a repository, with variables": "passed",
    "leaves what cannot be read": "passed",
    "has a grader that never ends": "error",
    "has a fault that never comes": "failed",
    "removes its workspace": "error",
    "works here": "not_run",
    "has a fixture that leads out": "error",
    "fails twice of three": "passed",
    "has a grader that throws": "error",
  });
  expect(why("has no answer")).toMatch(/The case has no answer for: Write .*out\.txt/);
  expect(cases.get("has no answer")?.trials[0]?.changes).toBe("");
  expect(why("never ends")).toContain("The trial took too long and was interrupted.");
  expect(why("has a grader that never ends")).toContain("The grader command was stopped");
  expect(cases.get("has a grader that never ends")?.trials[0]?.verdicts).toMatchObject([{ passed: true }]);
  expect(why("has a fault that never comes")).toContain("The fault 529 at request 9 of main did not occur");
  expect(cases.get("removes its workspace")?.trials[0]).toMatchObject({
    requests: 2,
    tokens: { output: expect.any(Number) as number },
  });
  expect(why("works here")).toContain("--allow-side-effects");
  expect(why("has a fixture that leads out")).toContain("a link to a path outside of it: etc -> /etc");
  expect(why("has a grader that throws")).toContain("out of order");
  expect(cases.get("fails twice of three")).toMatchObject({
    trials: [{ trial: 1 }, { trial: 2 }, { trial: 3 }],
    passAt: { "1": expect.closeTo(1 / 3) as number, "3": 1 },
    passAll: { "1": expect.closeTo(1 / 3) as number, "3": 0 },
  });
  expect(run.exitCode).toBe(2);
  expect(existsSync(join(path, "home/.capstan"))).toBe(false);
});

test("judges are asked by name, are on the cassette, and their nonsense is no verdict", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  writeTree(path, {
    "agent.yaml": "name: greeter\ninstructions: You greet.\nmodel: claude-opus-4-8\ntools: []\n",
    "judged.test.yaml": `
agent: agent.yaml
judge: { model: claude-haiku-4-5 }
cases:
  - name: kind
    input: Greet me.
    graders:
      - rubric: { criteria: It is kind., threshold: 0.8 }
      - faithfulness: { context: The sky is blue., threshold: 0.9, judge: claude-sonnet-4-6 }
  - name: nonsense
    input: Greet me badly.
    graders: [{ relevance: { threshold: 0.5 } }]
`,
  });
  await using model = await scriptedModel(({ body, transcript }) => {
    if (body.tools?.some(({ name }) => name === "StructuredOutput") !== true) return say("Good day to you.");
    if (transcript.includes("badly")) return call("StructuredOutput", { score: 7, reason: "" });
    return call("StructuredOutput", { score: body.model.includes("haiku") ? 0.9 : 0.4, reason: "So it is." });
  });
  const file = join(path, "judged.test.yaml");
  const { run } = await runSuiteFile(file, "record", { modelUrl: model.url, home: join(path, "home") });
  const [kind, nonsense] = run.suites[0]?.cases ?? [];
  expect(kind?.trials[0]?.verdicts).toMatchObject([
    { grader: "rubric", passed: true, score: 0.9 },
    {
      grader: "faithfulness",
      passed: false,
      score: 0.4,
      message: expect.stringContaining("claude-sonnet-4-6 gives 0.4") as string,
    },
  ]);
  expect(kind?.trials[0]?.judgeUsd).toBeGreaterThan(0);
  expect(nonsense).toMatchObject({ status: "error" });

  const asked = model.requests.length;
  const again = await runSuiteFile(file, "replay", { home: join(path, "elsewhere"), filter: ["kind"] });
  expect(again.run.suites[0]?.cases[0]?.trials[0]?.verdicts).toEqual(kind?.trials[0]?.verdicts);
  expect(model.requests.length).toBe(asked);
});
