import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Cassette } from "../../src/core/suite/cassette.ts";
import { echoEngine } from "../support/echo-engine.ts";
import { theseEngines } from "../support/engine-host.ts";
import { temporaryDirectory } from "../support/host.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";

const FILES = {
  "agent.yaml": "name: worker\nmodel: claude-opus-4-8\n",
  "worker.test.yaml": `
agent: agent.yaml
cases:
  - { name: own, input: hello, engine: direct, graders: [{ contains: "direct: hello" }] }
  - { name: any, input: hello }
`,
};

/** Each asks the model in words of its own, as engines do. */
const engines = () =>
  theseEngines(
    echoEngine("claude", { prompt: "You are claude." }),
    echoEngine("direct", { prompt: "You are direct." }),
  );

function cassetteOf(root: string, name: string): Cassette {
  const directory = readdirSync(root, { recursive: true, encoding: "utf8" });
  const file = directory.find((path) => path.endsWith(".json") && path.includes(name));
  return JSON.parse(readFileSync(join(root, file ?? ""), "utf8")) as Cassette;
}

test("a case runs on its own engine, others on that of the run, and a cassette says on which it was recorded", async () => {
  using directory = temporaryDirectory();
  await using model = await scriptedModel(() => say("heard"));
  writeTree(directory.path, FILES);
  const file = join(directory.path, "worker.test.yaml");
  const home = directory.path;
  const recorded = await runSuiteFile(file, "record", {
    home,
    modelUrl: model.url,
    engines: engines(),
    engine: "claude",
  });
  const texts = recorded.run.suites[0]?.cases.map((one) => one.trials[0]?.text);
  expect(texts).toEqual(["direct: hello", "claude: hello"]);
  expect(cassetteOf(home, "own").recorded.engine).toBe("direct");
  expect(cassetteOf(home, "any").recorded.engine).toBe("claude");

  const same = await runSuiteFile(file, "replay", { home, engines: engines(), engine: "claude" });
  expect(same.run.exitCode).toBe(0);

  const other = await runSuiteFile(file, "replay", { home, engines: engines(), engine: "direct" });
  const [own, any] = other.run.suites[0]?.cases ?? [];
  expect([own?.status, any?.status]).toEqual(["passed", "failed"]);
  expect(any?.trials[0]?.verdicts.map(({ message }) => message)).toEqual([
    "Request 1 of main has changed since it was recorded: the instructions changed. It was recorded on the claude engine and replayed on direct. Replay it on claude (--engine claude), accept the differences (--accept-drift), or delete the cassette and record the case on direct.",
  ]);

  const accepted = await runSuiteFile(file, "replay", {
    home,
    engines: engines(),
    engine: "direct",
    acceptDrift: true,
  });
  expect(accepted.run.exitCode).toBe(0);
  expect(accepted.run.suites[0]?.cases[1]?.trials[0]?.text).toBe("direct: hello");
});
