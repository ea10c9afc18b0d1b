import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cassette } from "../../src/core/suite/cassette.ts";
import { comparableLog } from "../../src/eval/compare/comparable-log.ts";
import { logDifferences } from "../../src/eval/compare/log-differences.ts";
import { temporaryDirectory } from "../support/host.ts";
import {
  apiError,
  call,
  say,
  scriptedModel,
  text,
  toolUse,
  type Script,
  WHICH_COLOUR,
} from "../support/scripted-model.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";

const AGENT = `
name: worker
instructions: You do what the message says.
model: claude-opus-4-8
tools: [Read, Write, Agent, AskUserQuestion]
subagents:
  left: { description: Looks at the left., instructions: You look at the left., tools: [Read] }
  right: { description: Looks at the right., instructions: You look at the right., tools: [Read] }
output_schema: { type: object, properties: { total: { type: number } }, required: [total], additionalProperties: false }
`;

const SUITE = `
agent: agent.yaml
cases:
  - name: everything
    input: Do all of it.
    files: { left.txt: "1\\n", right.txt: "2\\n" }
    answers:
      - { tool: Write, decision: allow }
      - { question: Which colour, answer: blue }
    graders:
      - files: { content: { out.txt: blue } }
      - subagents: [left, right]
      - output: { path: $.total, equals: 3 }
      - recovery: { retries: { at_least: 1 } }
      - stop_reason: end_turn
`;

/** A question, three subagents side by side, two of them of one kind, an approval, a 529, and a structured answer. */
function script(): Script {
  let refused = false;
  return ({ agent, body, toolResults }) => {
    if (agent !== "main") {
      const side = JSON.stringify(body.system).includes("the left") ? "left" : "right";
      return toolResults.length > 0
        ? say(`The ${side} says ${side === "left" ? 1 : 2}.`)
        : call("Read", { file_path: `${side}.txt` });
    }
    const done = body.messages.filter(({ role }) => role === "assistant").length;
    if (done === 0) return call("AskUserQuestion", { questions: [WHICH_COLOUR] });
    if (done === 1)
      return {
        blocks: [
          toolUse("Agent", { subagent_type: "left", description: "Left", prompt: "Look at the left." }),
          toolUse("Agent", { subagent_type: "left", description: "Left again", prompt: "Look at it again." }),
          toolUse("Agent", { subagent_type: "right", description: "Right", prompt: "Look at the right." }),
        ],
      };
    if (done === 2 && !refused) {
      refused = true;
      return apiError(529, "overloaded_error", "Overloaded");
    }
    if (done === 2)
      return { blocks: [text("Now the file."), toolUse("Write", { file_path: "out.txt", content: "blue" })] };
    return call("StructuredOutput", { total: 3 });
  };
}

test("a session with an approval, a question, subagents, a retry and a structured answer replays to the same log", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  writeTree(path, { "agent.yaml": AGENT, "all.test.yaml": SUITE });
  await using model = await scriptedModel(script());
  const file = join(path, "all.test.yaml");
  const recorded = await runSuiteFile(file, "record", { modelUrl: model.url, home: join(path, "home") });
  expect(recorded.run.suites[0]?.cases[0]?.trials[0]).toMatchObject({ status: "passed" });
  const asked = model.requests.length;

  const replayed = await runSuiteFile(file, "replay", { home: join(path, "elsewhere") });
  expect(replayed.run.suites[0]?.cases[0]?.trials[0]).toMatchObject({ status: "passed", drifts: [] });
  expect(model.requests.length).toBe(asked);
  const [one, other] = [recorded.facts[0], replayed.facts[0]].map(
    (facts) => facts && comparableLog(facts.events, { WORKSPACE: facts.workspace }),
  );
  expect(logDifferences(one ?? {}, other ?? {})).toEqual([]);
  expect(Object.keys(one ?? {}).toSorted()).toEqual(["left", "left 2", "main", "right"]);
});

const INTERRUPTED = `
agent: agent.yaml
cases:
  - name: is interrupted
    turns: [{ input: Look around., interrupt_after: { tool_calls: 1 } }, { input: What did you see? }]
    graders: [{ contains: a file }]
`;

/** Calls that end at once: whether the agent asks again before it notices is a matter of luck, but for the tape. */
test("a turn that is interrupted is replayed, whenever the agent notices", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  const agent = AGENT.replace("[Read,", "[Glob, Read,").replace(/output_schema.*/, "");
  writeTree(path, { "agent.yaml": agent, "a.test.yaml": INTERRUPTED });
  await using model = await scriptedModel(({ transcript }) =>
    transcript.includes("What did you see?") ? say("I saw a file.") : call("Glob", { pattern: "*" }),
  );
  const file = join(path, "a.test.yaml");
  const recorded = await runSuiteFile(file, "record", { modelUrl: model.url, home: join(path, "home") });
  expect(recorded.run.suites[0]?.cases[0]?.trials[0]).toMatchObject({ status: "passed" });
  // How far the call got when it was recorded is a matter of luck as well.
  const cassetteFile = join(path, "cassettes/a.test/is-interrupted.json");
  for (const [at, text] of ["No files found", "The operation was aborted"].entries()) {
    const content = cassette.parse(JSON.parse(readFileSync(cassetteFile, "utf8")));
    const results = content.threads
      .flatMap(({ exchanges }) => exchanges.flatMap(({ news }) => news.flatMap((one) => one.content)))
      .filter(({ type }) => type === "tool_result");
    expect(results).toHaveLength(1);
    for (const result of results) Object.assign(result, { content: [{ type: "text", text }], is_error: at === 1 });
    writeFileSync(cassetteFile, JSON.stringify(content));
    const replayed = await runSuiteFile(file, "replay", { home: join(path, `replay-${at}`), trials: 1 });
    expect(replayed.run.suites[0]?.cases[0]?.trials[0]).toMatchObject({ status: "passed", drifts: [] });
  }
});
