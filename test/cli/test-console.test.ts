import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testCli } from "../support/cli.ts";
import { writeTree } from "../support/suites.ts";
import { recordTrust } from "../support/trust.ts";

const AGENT = "name: worker\ninstructions: You work.\nmodel: claude-opus-4-8\n";

test("nothing that a suite says steers the terminal", async () => {
  using cli = testCli();
  writeTree(cli.cwd, {
    "agent.yaml": AGENT,
    "checks.mjs": 'export default () => { throw new Error("gone \\u001b[2J"); };\n',
    "odd.test.yaml": `
suite: "odd \\e[2J"
agent: agent.yaml
gates: { pass_rate: 1 }
cases:
  - { name: "one \\e[2J", input: Hello, graders: [{ code: { module: checks.mjs } }] }
  - { name: two, input: Hello, skip: "later \\e[2J" }
`,
  });
  await recordTrust(cli, "odd.test.yaml");
  const { code, stdout, stderr } = await cli.run(["test", "--rehearsal"]);
  expect(stdout).toContain("gone \\u{1b}[2J");
  expect(stdout).toContain("skipped: later \\u{1b}[2J");
  expect(stdout).toContain("odd \\u{1b}[2J: gate pass_rate");
  expect(stdout + stderr).not.toContain("\u001B");
  expect(code).toBe(3);
});

test("what a filter leaves out is counted and not listed", async () => {
  using cli = testCli();
  writeTree(cli.cwd, {
    "agent.yaml": AGENT,
    "a.test.yaml": `
agent: agent.yaml
cases:
  - { name: wanted, input: Hello }
  - { name: other, input: Hello }
  - { name: another, input: Hello }
  - { name: later, input: Hello, skip: not yet }
`,
  });
  const { code, stdout } = await cli.run(["test", "--rehearsal", "--filter", "wanted"]);
  expect(code).toBe(0);
  expect(stdout).not.toContain("other");
  expect(stdout).toContain("skipped: not yet");
  expect(stdout).toMatch(/^1 passed, 1 skipped, 2 filtered out in /m);
});

test("a suite that was not run for its agent's sake is named", async () => {
  using cli = testCli();
  const cases = "cases: [{ name: one, input: Hello }]\n";
  writeTree(cli.cwd, {
    "agent.yaml": AGENT,
    "good.test.yaml": `agent: agent.yaml\n${cases}`,
    "lost.test.yaml": `agent: nope.yaml\n${cases}`,
    "wrong.test.yaml": "cases: 7\n",
  });
  const { code, stdout } = await cli.run(["test", "--rehearsal"]);
  expect(code).toBe(2);
  expect(stdout).toMatch(/^! lost\.test\.yaml was not run: .*nope\.yaml/m);
  expect(stdout).toMatch(/^! wrong\.test\.yaml:1:8/m);
});

test("drift that is accepted is told on the console and in the reports", async () => {
  using cli = testCli();
  writeTree(cli.cwd, {
    "agent.yaml": AGENT,
    "a.test.yaml": "agent: agent.yaml\ncases: [{ name: one, input: Hello }]\n",
  });
  const recorded = await cli.run(["test", "--record", "--rehearsal"], { environment: { CI: undefined } });
  expect(recorded.code).toBe(0);
  writeFileSync(join(cli.cwd, "agent.yaml"), AGENT.replace("You work.", "You work well."));
  const { code, stdout } = await cli.run(["test", "--accept-drift", "--report", "md,junit"]);
  expect(code).toBe(0);
  const told = "1 request differs from the cassette (accepted)";
  expect(stdout).toContain(`\n    ${told}\n`);
  for (const file of ["report.md", "junit.xml"])
    expect(readFileSync(join(cli.cwd, "capstan-report", file), "utf8")).toContain(told);
});
