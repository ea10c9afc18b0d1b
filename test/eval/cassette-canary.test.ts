import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { canaryText } from "../../src/cli/test/test-canary-view.ts";
import type { CanaryRun } from "../../src/eval/compare/canary.ts";
import { logDifferences } from "../../src/eval/compare/log-differences.ts";
import { testCli } from "../support/cli.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";

const AGENT = "name: worker\ninstructions: You work.\nmodel: claude-opus-4-8\ntools: [Read]\n";
const SUITE = `
agent: agent.yaml
cases:
  - { name: reads, input: Read it., files: { a.txt: hello }, graders: [{ tools_called: [Read] }] }
`;

/** Another SDK: a copy of ours, which finds the same CLI. */
function copyOfSdk(directory: string): string {
  const installed = resolve("node_modules/@anthropic-ai");
  const copy = join(directory, "node_modules/@anthropic-ai/claude-agent-sdk");
  mkdirSync(dirname(copy), { recursive: true });
  cpSync(join(installed, "claude-agent-sdk"), copy, { recursive: true });
  for (const name of readdirSync(installed).filter((one) => one.startsWith("claude-agent-sdk-")))
    symlinkSync(join(installed, name), join(dirname(copy), name));
  return copy;
}

/** Says nothing of its start, and tells the model something else. */
const PATCH = `
export * from "./own.mjs";
import * as own from "./own.mjs";
const withoutStart = (query) =>
  new Proxy(query, {
    get(target, key) {
      if (key === Symbol.asyncIterator)
        return async function* () {
          for await (const message of target) if (message.subtype !== "init") yield message;
        };
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
export const query = (given) => withoutStart(own.query(given));
export const startup = async ({ options }) => {
  const started = await own.startup({ options: { ...options, systemPrompt: "You play." } });
  return { query: (input) => withoutStart(started.query(input)) };
};
`;

test("cassettes on another SDK: the same behaves the same, and what another does otherwise is told", async () => {
  using cli = testCli();
  writeTree(cli.cwd, { "agent.yaml": AGENT, "reads.test.yaml": SUITE });
  {
    await using model = await scriptedModel(({ toolResults, transcript }) => {
      const cwd = /Primary working directory: (\S+)/.exec(transcript)?.[1] ?? "";
      return toolResults.length > 0 ? say("hello") : call("Read", { file_path: `${cwd}/a.txt` });
    });
    const { run } = await runSuiteFile(join(cli.cwd, "reads.test.yaml"), "record", {
      modelUrl: model.url,
      home: cli.home,
    });
    expect(run.exitCode).toBe(0);
  }
  const place = join(cli.home, "other");
  const copy = copyOfSdk(place);
  const same = await cli.run(["test", "--replay", "--sdk", place]);
  expect(same).toMatchObject({ code: 0, stderr: "" });
  expect(same.stdout).toMatch(/^✓ reads: reads\n\nSDK \S+ and \S+: 1 the same\n$/);

  renameSync(join(copy, "sdk.mjs"), join(copy, "own.mjs"));
  writeFileSync(join(copy, "sdk.mjs"), PATCH);
  const other = await cli.run(["test", "--sdk", copy, "--json"]);
  expect(other.code).toBe(1);
  const run = JSON.parse(other.stdout) as CanaryRun;
  expect(run.cases).toMatchObject([{ case: "reads", status: "different", before: "passed", after: "passed" }]);
  expect(run.cases[0]?.drifts.map(({ thread, ordinal, what }) => [thread, ordinal, what])).toEqual([
    ["main", 1, "instructions"],
    ["main", 2, "instructions"],
  ]);
  expect(run.cases[0]?.differences).toMatchObject([
    { thread: "main", type: "capstan.prompt_rendered", path: "", before: { model: "claude-opus-4-8" } },
  ]);

  const none = await cli.run(["test", "--sdk", cli.cwd]);
  expect(none).toMatchObject({ code: 2, stdout: "" });
  expect(none.stderr).toContain("There is no @anthropic-ai/claude-agent-sdk in");
  const wrong = await cli.run(["test", "--sdk", "newest"]);
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toContain("newest is neither a directory nor a version");
});

test("a version that cannot be installed is told with the next step, and leaves nothing half-made", async () => {
  using cli = testCli();
  writeTree(cli.cwd, { "agent.yaml": AGENT, "reads.test.yaml": SUITE });
  const npm = '#!/bin/sh\necho "npm error code E404" >&2\necho "npm error 404 No match found." >&2\nexit 1\n';
  writeTree(cli.home, { "bin/npm": npm });
  chmodSync(join(cli.home, "bin/npm"), 0o755);
  const PATH = `${join(cli.home, "bin")}:${cli.environment["PATH"] ?? ""}`;
  const failed = await cli.run(["test", "--sdk", "0.0.1"], { environment: { PATH } });
  expect(failed).toMatchObject({ code: 3, stdout: "" });
  expect(failed.stderr).toContain(
    "@anthropic-ai/claude-agent-sdk@0.0.1 could not be installed: code E404 404 No match found. Install it yourself",
  );
  expect(readdirSync(join(cli.home, ".capstan/sdks"))).toEqual([]);
});

test("logs are compared lane by lane: order between them means nothing", () => {
  const use = { type: "agent.tool_use", call_id: "c1", name: "Read" };
  const result = { type: "agent.tool_result", call_id: "c1", content: [{ text: "one" }] };
  const span = { type: "span.model_request_end", stop_reason: "end_turn" };
  const said = { type: "agent.message", content: [{ type: "text", text: "Hi." }] };
  expect(logDifferences({ main: [use, span, result, said] }, { main: [span, use, said, result] })).toEqual([]);
  expect(
    logDifferences(
      { main: [use, result, span, said], left: [said] },
      { main: [use, { ...result, content: [{ text: "two" }], is_error: true }, span, span, said] },
    ),
  ).toEqual([
    { thread: "main", index: 2, type: "agent.tool_result", path: "content.0.text", before: "one", after: "two" },
    { thread: "main", index: 2, type: "agent.tool_result", path: "is_error", before: undefined, after: true },
    { thread: "main", index: 4, type: "span.model_request_end", path: "", after: span },
    { thread: "left", index: 1, type: "agent.message", path: "", before: said },
  ]);
});

const drift = (ordinal: number) => ({
  thread: "main",
  ordinal,
  what: "tools",
  summary: "the tools changed (changed: Bash)",
  diff: "--- recorded\n+++ now\n@@ -1,2 +1,2 @@\n name: Bash\n-description: Runs.\n+description: Runs a command.",
});

test("what differs is told in lines, and the same change of many requests once", () => {
  const text = canaryText({
    pinned: "1.0.0",
    other: "1.1.0",
    problems: [],
    exitCode: 1,
    cases: [
      {
        suite: "reads",
        case: "reads",
        trial: 1,
        status: "different",
        before: "passed",
        after: "failed",
        drifts: [drift(1), drift(2), drift(3)],
        differences: [
          { thread: "main", index: 4, type: "agent.message", path: "content.0.text", before: "Hi.", after: "Ho." },
          { thread: "left", index: 1, type: "agent.thinking", path: "", before: { thinking: "Hm." } },
        ],
      },
      {
        suite: "reads",
        case: "old",
        trial: 2,
        status: "not_compared",
        reason: "the cassette does not match",
        before: "failed",
        after: "failed",
        drifts: [],
        differences: [],
      },
    ],
  });
  expect(text).toMatchInlineSnapshot(`
    "✗ reads: reads
        before: passed, now: failed
        changed: request 1 of main and 2 others: the tools changed (changed: Bash)
          @@ -1,2 +1,2 @@
           name: Bash
          -description: Runs.
          +description: Runs a command.
        event 4 of main, agent.message content.0.text
          - Hi.
          + Ho.
        event 1 of left, agent.thinking was removed
          - {"thinking":"Hm."}
    ! reads: old (trial 2)
        the cassette does not match

    SDK 1.0.0 and 1.1.0: 1 different, 1 not compared"
  `);
});
