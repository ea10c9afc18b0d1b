import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cassette } from "../../src/core/suite/cassette.ts";
import type { TrialRun } from "../../src/core/suite/suite-run.ts";
import type { RunRequest } from "../../src/eval/run.ts";
import { copyTree } from "../support/cli.ts";
import { temporaryDirectory } from "../support/host.ts";
import { call, say, type Script, scriptedModel } from "../support/scripted-model.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";

const AGENT = `
name: reader
instructions: You read notes.
model: claude-opus-4-8
tools: [Read]
`;

const SUITE = `
agent: agent.yaml
cases:
  - name: reads the notes
    input: What do the notes say?
    fixture: fixture
    graders: [{ contains: milk }]
`;

const reads: Script = ({ body, toolResults }) => {
  const [, cwd] = /Primary working directory: (.*?)\\n/.exec(JSON.stringify(body.messages)) ?? [];
  return toolResults.length === 0 ? call("Read", { file_path: `${cwd}/notes.txt` }) : say("They say: milk.");
};

/** A suite that was recorded once; every test has a copy of it. */
const recorded = temporaryDirectory();
const CASSETTE = "cassettes/notes.test/reads-the-notes.json";

beforeAll(async () => {
  writeTree(recorded.path, { "agent.yaml": AGENT, "notes.test.yaml": SUITE, "fixture/notes.txt": "Buy milk.\n" });
  await using model = await scriptedModel(reads);
  const { run } = await runSuiteFile(join(recorded.path, "notes.test.yaml"), "record", {
    modelUrl: model.url,
    home: join(recorded.path, "home"),
  });
  expect(run.exitCode).toBe(0);
});
afterAll(() => recorded[Symbol.dispose]());

interface Place extends Disposable {
  readonly path: string;
  readonly cassette: string;
  replay(more?: Partial<RunRequest>): Promise<{ exitCode: number; trial: TrialRun | undefined }>;
}

/** Somewhere else, with files put over what was recorded. */
function elsewhere(files: Readonly<Record<string, string>> = {}): Place {
  const directory = temporaryDirectory();
  const path = join(directory.path, "another place");
  mkdirSync(path);
  for (const name of ["agent.yaml", "notes.test.yaml", "fixture", "cassettes"])
    copyTree(join(recorded.path, name), join(path, name));
  writeTree(path, files);
  return {
    path,
    cassette: join(path, CASSETTE),
    async replay(more = {}) {
      const { run } = await runSuiteFile(join(path, "notes.test.yaml"), "replay", {
        home: join(directory.path, "home"),
        ...more,
      });
      return { exitCode: run.exitCode, trial: run.suites[0]?.cases[0]?.trials[0] };
    },
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

describe("a cassette", () => {
  test("has no path, no id and no date of the machine it was made on", () => {
    const text = readFileSync(join(recorded.path, CASSETTE), "utf8");
    expect(text).not.toContain("/tmp/");
    expect(text).toContain("${WORKSPACE}/notes.txt");
    expect(text).toContain("Today's date is ${DATE}");
    expect(cassette.parse(JSON.parse(text)).threads).toHaveLength(1);
  });

  test("is replayed in another directory, and no model is asked", async () => {
    using place = elsewhere();
    const { exitCode, trial } = await place.replay();
    expect(trial).toMatchObject({ status: "passed", drifts: [], text: "They say: milk." });
    expect(exitCode).toBe(0);
  });

  test.each<[string, Record<string, string>, string, string, string]>([
    [
      "instructions",
      { "agent.yaml": AGENT.replace("You read notes", "You read letters") },
      "instructions",
      "the instructions changed",
      "+  text: You read letters.",
    ],
    ["tools", { "agent.yaml": AGENT.replace("[Read]", "[Read, Glob]") }, "tools", "new: Glob", "+  name: Glob"],
    [
      "model",
      { "agent.yaml": AGENT.replace("opus-4-8", "sonnet-4-6") },
      "model",
      "the model was claude-opus-4-8 and is claude-sonnet-4-6",
      "+claude-sonnet-4-6",
    ],
    [
      "settings",
      { "agent.yaml": `${AGENT}effort: low\n` },
      "settings",
      "the request's settings changed",
      "+  effort: low",
    ],
    [
      "message",
      { "notes.test.yaml": SUITE.replace("What do", "Well, what do") },
      "content",
      "the message to the model changed",
      "text: Well, what do the notes say?",
    ],
    [
      "answer of a tool",
      { "fixture/notes.txt": "Buy bread.\n" },
      "content",
      "a tool answered differently",
      "Buy bread.",
    ],
  ])("does not fit when the %s changed, and the diff says so", async (_what, files, what, summary, line) => {
    using place = elsewhere(files);
    const { exitCode, trial } = await place.replay();
    expect(trial?.drifts[0]).toMatchObject({ what, thread: "main" });
    expect(trial?.drifts[0]?.summary).toContain(summary);
    expect(trial?.drifts[0]?.diff).toContain(line);
    // What the agent tries again, and what graders would say of a trial that ended there, is nothing new.
    expect(new Set(trial?.drifts.map(({ ordinal }) => ordinal)).size).toBe(1);
    expect(new Set(trial?.verdicts.map(({ grader }) => grader))).toEqual(new Set(["cassette"]));
    expect(trial?.verdicts[0]?.message).toContain("capstan test --record");
    expect(trial?.status).toBe("failed");
    expect(exitCode).toBe(1);
  });

  test("is replayed in spite of a difference when that is accepted, and the difference is told", async () => {
    using place = elsewhere({ "fixture/notes.txt": "Buy bread.\n" });
    const { exitCode, trial } = await place.replay({ acceptDrift: true });
    expect(trial).toMatchObject({ status: "passed", drifts: [{ what: "content" }] });
    expect(exitCode).toBe(0);
  });

  test("with an answer that nobody asked for fails", async () => {
    using place = elsewhere();
    const content = cassette.parse(JSON.parse(readFileSync(place.cassette, "utf8")));
    const [thread] = content.threads;
    thread?.exchanges.push(...thread.exchanges.slice(-1));
    writeFileSync(place.cassette, JSON.stringify(content));
    const { trial } = await place.replay();
    expect(trial?.verdicts[0]?.message).toContain("The cassette has unused answers: main 3. If that");
  });

  test("with answers to a judge that the case has no more fails", async () => {
    using place = elsewhere();
    const content = cassette.parse(JSON.parse(readFileSync(place.cassette, "utf8")));
    content.threads.push(...content.threads.map((thread) => ({ ...thread, session: "judge-1" })));
    writeFileSync(place.cassette, JSON.stringify(content));
    const { trial } = await place.replay();
    expect(trial?.verdicts[0]?.message).toContain("The cassette has unused answers: judge-1.");
  });

  test.each<[string, (text: string) => string, RegExp]>([
    ["was cut off", (text) => text.slice(0, 500), /not complete JSON/],
    ["is of another format", (text) => text.replace('"format": 1', '"format": 7'), /its format is 7, not 1/],
    ["was edited", (text) => text.replace('"kind": "message"', '"kind": "poem"'), /threads\.0\.exchanges\.0\.answer/],
    [
      "lost a text",
      (text) => text.replace(/"texts": \{\s*"/, '"texts": {"x'),
      /it refers to the text .*, which it does not contain/,
    ],
  ])("that %s is an error that says what to do", async (_what, change, problem) => {
    using place = elsewhere();
    writeFileSync(place.cassette, change(readFileSync(place.cassette, "utf8")));
    const { exitCode, trial } = await place.replay();
    expect(trial).toMatchObject({ status: "error" });
    expect(trial?.error).toMatch(problem);
    expect(trial?.error).toContain("capstan test --record");
    expect(exitCode).toBe(3);
  });

  test("that was made for another case is an error", async () => {
    using place = elsewhere({ "notes.test.yaml": SUITE.replace("reads the notes", "Reads the notes") });
    const { exitCode, trial } = await place.replay();
    expect(trial?.error).toContain('was recorded for trial 1 of "reads the notes" in the suite notes');
    expect(exitCode).toBe(3);
  });

  test("is not looked for when no case fits the filter, which is no success", async () => {
    using place = elsewhere();
    const { exitCode } = await place.replay({ filter: ["nosuchcase"] });
    expect(exitCode).toBe(2);
  });

  test("that is missing is an error, and none is made", async () => {
    using place = elsewhere({ "notes.test.yaml": SUITE.replace("reads the notes", "another name") });
    const { exitCode, trial } = await place.replay();
    expect(trial?.error).toMatch(/The cassette .*another-name\.json does not exist/);
    expect(exitCode).toBe(3);
    expect(readdirSync(join(place.path, "cassettes/notes.test"))).toEqual(["reads-the-notes.json"]);
  });

  test("is not made when it would hold a secret", async () => {
    using place = elsewhere({
      "fixture/notes.txt": `[redacted:anthropic-key] key = sk-ant-api03-${"aB3".repeat(30)}\n`,
    });
    await using model = await scriptedModel(reads);
    const file = join(place.path, "notes.test.yaml");
    writeFileSync(file, SUITE.replace("reads the notes", "finds a key"));
    const { run } = await runSuiteFile(file, "record", { modelUrl: model.url, home: join(place.path, "home") });
    const trial = run.suites[0]?.cases[0]?.trials[0];
    expect(trial).toMatchObject({ status: "error" });
    expect(trial?.error).toMatch(/Nothing was recorded for "finds a key": .* contains a secret/);
    expect(trial?.error).not.toContain("aB3aB3");
    expect(existsSync(join(place.path, "cassettes/notes.test/finds-a-key.json"))).toBe(false);
    expect(run.exitCode).toBe(3);
  });
});

test("a call without id, name and input is the cassette's fault, and not the agent's", async () => {
  using place = elsewhere();
  const content = cassette.parse(JSON.parse(readFileSync(place.cassette, "utf8")));
  const answer = content.threads[0]?.exchanges[0]?.answer;
  if (answer?.kind === "message") answer.message.content = [{ type: "tool_use" }];
  writeFileSync(place.cassette, JSON.stringify(content));
  const { exitCode, trial } = await place.replay();
  expect(trial).toMatchObject({ status: "error", drifts: [], verdicts: [] });
  expect(trial?.error).toContain(`The cassette ${place.cassette} cannot be used: it was edited, at threads.0.`);
  expect(exitCode).toBe(3);
});
