import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { CaseRun, SuiteRun } from "../../src/core/suite/suite-run.ts";
import { temporaryDirectory } from "../support/host.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";

const SUITE = `
agent: agent.yaml
judge: { model: claude-haiku-4-5 }
cases:
  - name: has no answer
    input: Write it.
  - name: has a grader that throws
    input: Greet me.
    graders: [{ code: { module: ./throws.mjs } }]
  - name: is judged
    input: Greet me.
    graders: [{ rubric: { criteria: It is kind., threshold: 0.5 } }]
`;

const place = temporaryDirectory();
afterAll(() => place[Symbol.dispose]());
const file = join(place.path, "a.test.yaml");
const cassette = (name: string): string => join(place.path, "cassettes/a.test", `${name}.json`);
const told = (one: CaseRun | undefined): string[] =>
  (one?.trials ?? []).flatMap(({ error, verdicts }) => [
    ...(error === undefined ? [] : [error]),
    ...verdicts.filter(({ passed }) => !passed).map(({ message }) => message),
  ]);

test("a cassette is kept when the conversation came to its end, whatever graders say, and else that is told", async () => {
  writeTree(place.path, {
    "agent.yaml": "name: greeter\ninstructions: You greet.\nmodel: claude-opus-4-8\ntools: [Write]\n",
    "a.test.yaml": SUITE,
    "throws.mjs": "export default () => { throw new Error('out of order'); };\n",
  });
  await using model = await scriptedModel(({ body, transcript, toolResults }) => {
    if (body.tools?.some(({ name }) => name === "StructuredOutput") === true)
      return call("StructuredOutput", { score: 1, reason: "So it is." });
    return transcript.includes("Write it") && toolResults.length === 0
      ? call("Write", { file_path: join(place.path, "out.txt"), content: "" })
      : say("Good day.");
  });
  const { run } = await runSuiteFile(file, "record", { modelUrl: model.url, home: join(place.path, "home") });
  const [unanswered, throwing, judged] = run.suites[0]?.cases ?? [];
  expect(unanswered?.status).toBe("failed");
  expect(told(unanswered).at(-1)).toBe(
    "Nothing was recorded: the conversation did not reach its end. Fix the cause, and record the case again.",
  );
  expect(existsSync(cassette("has-no-answer"))).toBe(false);
  expect(throwing?.status).toBe("error");
  expect(told(throwing)).toEqual([expect.stringMatching(/^code: .*out of order(?![^]*Nothing was recorded)/)]);
  expect(existsSync(cassette("has-a-grader-that-throws"))).toBe(true);
  expect(judged?.status).toBe("passed");
});

test("a judge that is asked something else is a difference to the cassette, and no error", async () => {
  writeFileSync(file, readFileSync(file, "utf8").replace("It is kind.", "It is rude."));
  const { run } = await runSuiteFile(file, "replay", { home: join(place.path, "other"), filter: ["is judged"] });
  const judged = run.suites[0]?.cases.at(-1);
  expect(judged?.status).toBe("failed");
  expect(told(judged)).toEqual([
    expect.stringContaining("Request 1 of judge-1, main has changed since it was recorded"),
  ]);
  expect(run.exitCode).toBe(1);
});

async function replay(baseline: SuiteRun | undefined): Promise<SuiteRun> {
  const home = join(place.path, "third");
  const only = { filter: ["is judged"], acceptDrift: true, directory: place.path };
  return (await runSuiteFile(file, "replay", { home, ...only, baseline })).run;
}

test("a suite of the baseline that is gone is told, and so is a baseline of other suites", async () => {
  const now = await replay(undefined);
  const [suite] = now.suites;
  if (suite === undefined) throw new Error("There is no suite.");
  const gone = { ...suite, suite: "gone", file: "gone.test.yaml" };
  expect((await replay({ ...now, suites: [suite, gone] })).problems).toEqual([
    expect.stringContaining("The suite gone is in the baseline, but gone.test.yaml no longer exists. If that"),
  ]);
  expect(await replay({ ...now, suites: [gone] })).toMatchObject({
    problems: [expect.stringContaining("No suite of this run is in the baseline, which has: gone.") as string],
    exitCode: 2,
  });
});
