import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/host.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";

const AGENT = `
name: helper
instructions: You help.
model: claude-opus-4-8
tools: [Read, Glob, Agent]
subagents:
  reviewer: { description: Reviews files., instructions: You review., tools: [Read] }
`;
/** What a fault can do depends on the engine: without a process of its own there is none to kill. */
const KINDS = ["429", "500", "529", "stall", "drop", "garbage", ...(TEST_ENGINE === "claude" ? ["kill"] : [])];

/**
 * One case for each kind: something goes wrong at the second request, and the agent gets over it. A turn ends with its
 * process, and the next message goes on.
 */
const SUITE = `
agent: agent.yaml
defaults: { timeout: 60s, files: { notes.txt: "Buy milk.\\n" } }
cases:
${KINDS.map(
  (kind) => `
  - name: after ${kind}
    ${kind === "kill" ? "turns: [{ input: read notes.txt }, { input: read notes.txt }]" : "input: read notes.txt"}
    faults: [{ at: 2, kind: ${kind} }]
    graders:
      - contains: milk
      - tool_call: { tool: Read, outcome: completed, count: ${kind === "kill" ? 2 : 1} }
      - recovery: ${kind === "kill" ? "{ processes_lost: 1 }" : "{ retries: { at_least: 1 } }"}
`,
).join("")}
  - name: a subagent
    input: review notes.txt
    faults: [{ at: 1, thread: subagent, kind: 529 }]
    graders:
      - recovery: { retries: 1 }
      - stop_reason: end_turn
  - name: too many
    input: read notes.txt
    faults: [{ at: 1, kind: 500, times: 20 }]
    graders: [{ stop_reason: retries_exhausted }]
`;

test("what goes wrong on purpose is got over, and graders see how", async () => {
  using directory = temporaryDirectory();
  writeTree(directory.path, { "agent.yaml": AGENT, "faults.test.yaml": SUITE });
  const { run } = await runSuiteFile(join(directory.path, "faults.test.yaml"), "rehearsal", {
    home: join(directory.path, "home"),
  });
  const found = run.suites[0]?.cases.map((one) => ({
    name: one.case,
    status: one.status,
    wrong: one.trials.flatMap(({ error, verdicts }) => [
      ...(error === undefined ? [] : [error]),
      ...verdicts.filter(({ passed }) => !passed).map(({ message }) => message),
    ]),
  }));
  expect(found?.filter(({ status }) => status !== "passed")).toEqual([]);
  expect(found).toHaveLength(KINDS.length + 2);
});
