import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { htmlReport } from "../../src/eval/reports/html.ts";
import { markdownReport } from "../../src/eval/reports/markdown.ts";
import { temporaryDirectory } from "../support/host.ts";
import { call, say, type Script, scriptedModel } from "../support/scripted-model.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";
import { until } from "../support/until.ts";

const AGENT = `
name: looker
instructions: You look.
model: claude-opus-4-8
tools: [Bash]
permissions: { mode: yolo }
`;

const SUITE = `
agent: agent.yaml
cases:
  - name: looks
    input: Look around.
    fixture: fixture
    ignore: ['build \\d{1,9}']
    graders: [{ contains: seen }]
`;

const COMMAND = 'date; ls -la; { time true; } 2>&1; echo "build $$"; cat a.txt';
const looks: Script = ({ toolResults }) =>
  toolResults.length === 0 ? call("Bash", { command: COMMAND }) : say("I have seen it.");

const second = (): number => Math.floor(Date.now() / 1_000);

test("what varies by itself does not stop a replay, and the report shows it; a real difference does", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  const file = join(path, "look.test.yaml");
  const home = join(path, "home");
  writeTree(path, { "agent.yaml": AGENT, "look.test.yaml": SUITE, "fixture/a.txt": "hello\n" });
  await using model = await scriptedModel(looks);
  const { run: recorded } = await runSuiteFile(file, "record", { modelUrl: model.url, home, allowSideEffects: true });
  expect(recorded.exitCode).toBe(0);
  // `date` counts in seconds, and a fast engine replays within the same one.
  const before = second();
  await until(second, (now) => now > before);

  utimesSync(join(path, "fixture", "a.txt"), 1_500_000_000, 1_500_000_000);
  const { run } = await runSuiteFile(file, "replay", { home, allowSideEffects: true });
  const trial = run.suites[0]?.cases[0]?.trials[0];
  expect([run.exitCode, trial?.drifts]).toEqual([0, []]);
  expect(trial?.ignored).toMatchObject([{ thread: "main", ordinal: 2 }]);
  expect(trial?.ignored[0]?.kinds).toContain("dates and times");
  expect(markdownReport(run)).toContain("1 request has ignored differences: ");
  expect(htmlReport(run)).toContain("Ignored differences");

  writeFileSync(join(path, "fixture", "b.txt"), "");
  const other = (await runSuiteFile(file, "replay", { home, allowSideEffects: true })).run;
  expect(other.exitCode).toBe(1);
  expect(other.suites[0]?.cases[0]?.trials[0]?.drifts).toMatchObject([{ summary: "a tool answered differently" }]);
});
