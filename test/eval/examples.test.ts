import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CassetteExchange } from "../../src/core/suite/cassette.ts";
import type { SuiteRun } from "../../src/core/suite/suite-run.ts";
import { type CliResult, copyTree, testCli } from "../support/cli.ts";
import { writeTree } from "../support/suites.ts";

const AGENTS = "examples/agents";

/**
 * Ways to a network of one's own, with nothing but loopback: as a user whom this machine does not know, or, where that
 * is forbidden, as root.
 */
const CUT = ["unshare --user --map-user=4242 --map-group=4242 --keep-caps --net", "unshare --net"]
  .map((make) => [...make.split(" "), "sh", "-c", 'ip link set lo up && [ -z "$(ip route)" ] && exec "$@"', "sh"])
  .find(([command = "", ...args]) => spawnSync(command, [...args, "true"]).status === 0);

/** Where it cannot be cut off the rest is tested all the same; where everything must be tested, it fails. */
function withoutNetwork(): readonly string[] {
  if (CUT !== undefined) return CUT;
  if (process.env["CAPSTAN_TEST_REQUIRE"] === "all") throw new Error("The network cannot be cut off here.");
  console.warn("The network cannot be cut off here (unshare, ip): suites are replayed with it.");
  return [];
}

/** Hours away from where it is another day now: there the agent lives. */
const ELSEWHERE = new Date().getUTCHours() < 10 ? "Etc/GMT+12" : "Etc/GMT-14";

const cli = testCli();
afterAll(() => cli[Symbol.dispose]());
let first: CliResult;

/** Copies of examples, in a project where it is another day. */
function copyExamples(place: string, names: readonly string[]): string {
  const root = join(cli.cwd, place);
  writeTree(root, { ".capstan/config.yaml": `environment: { variables: { TZ: ${ELSEWHERE} } }\n` });
  for (const name of names) copyTree(join(AGENTS, name), join(root, name));
  // As npm install puts it there.
  if (names.includes("mcp-server")) symlinkSync(resolve("node_modules"), join(root, "mcp-server/node_modules"));
  return root;
}

function report(file: string): SuiteRun {
  return JSON.parse(readFileSync(file, "utf8")) as SuiteRun;
}

beforeAll(async () => {
  const cwd = copyExamples("a directory", readdirSync(AGENTS));
  const environment = { USER: "somebody", LOGNAME: "somebody", CI: "true", NO_COLOR: "1" };
  first = await cli.run(
    ["test", "--trust", "--engine", "claude", "--parallel", "2", "--report", "json=../baseline.json"],
    { cwd, environment, within: withoutNetwork() },
  );
});

/** What came of every case, in any order: several run at a time. */
function outcomes(file: string): readonly string[] {
  return report(file)
    .suites.flatMap(({ suite, cases }) => cases.map((one) => `${suite}: ${one.case}: ${one.status}`))
    .toSorted();
}

test("no example needs a certain engine", () => {
  const files = readdirSync(AGENTS, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".yaml"));
  expect(files.length).toBeGreaterThan(readdirSync(AGENTS).length);
  for (const file of files) expect(readFileSync(join(AGENTS, file), "utf8"), file).not.toMatch(/^\s*engine:/m);
});

test("on claude the suites of all examples pass elsewhere, on another day, for another user, without network and credentials", () => {
  expect(first.stderr).toBe("");
  expect(first.stdout).toMatch(/\n10 passed in .*\(replay\)\nReport: /);
  expect(first.code).toBe(0);
  const { suites } = report(join(cli.cwd, "baseline.json"));
  expect(suites.map(({ suite, agent }) => [suite, agent])).toEqual([
    ["extractor", "extractor"],
    ["hello", "hello"],
    ["operator", "operator"],
    ["reviewer", "reviewer"],
  ]);
});

test("on direct the suites of all examples pass as well, case by case", async () => {
  const cwd = copyExamples("direct", readdirSync(AGENTS));
  const direct = ["test", "--trust", "--engine", "direct"];
  const { code, stdout } = await cli.run([...direct, "--rehearsal", "--report", "json=../direct.json"], { cwd });
  expect(stdout).toMatch(/\n10 passed in .*\(rehearsal\)\n/);
  expect(code).toBe(0);
  expect(outcomes(join(cli.cwd, "direct.json"))).toEqual(outcomes(join(cli.cwd, "baseline.json")));
  // It is really another engine: what it asks is not what claude asked when the cassette was made.
  const drifted = await cli.run([...direct, "--replay", "--filter", "has nothing to write with"], { cwd });
  expect(drifted.code).toBe(1);
  expect(drifted.stdout).toContain("the instructions");
});

test("regressions in an example are found by its suite and by the baseline, and reports show them", async () => {
  const cwd = copyExamples("planted", ["hello", "mcp-server"]);
  const change = (file: string, how: (exchanges: CassetteExchange[]) => void): void => {
    const path = join(cwd, file);
    const cassette = JSON.parse(readFileSync(path, "utf8")) as { threads: { exchanges: CassetteExchange[] }[] };
    how(cassette.threads[0]?.exchanges ?? []);
    writeFileSync(path, JSON.stringify(cassette));
  };
  // The model writes something else …
  change("mcp-server/cassettes/operator.test/writes-down-a-sum.json", (exchanges) => {
    const [, write] = exchanges;
    expect(contentOf(write)).toMatchObject([{ name: "Write", input: { content: "5" } }]);
    Object.assign(contentOf(write)[0] ?? {}, { input: { file_path: "sum.txt", content: "6" } });
  });
  // … says the sum without asking the server …
  change("mcp-server/cassettes/operator.test/uses-the-tools-of-the-server.json", (exchanges) => {
    const [, sum, end] = exchanges;
    expect(contentOf(sum)).toMatchObject([{ name: "mcp__everything__get-sum" }]);
    exchanges.splice(1, 2, { ...sum, answer: end?.answer } as CassetteExchange);
  });
  // … and needs many more tokens.
  change("hello/cassettes/hello.test/looks-at-files.json", ([list]) => {
    if (list?.answer.kind === "message") list.answer.message.usage["input_tokens"] = 30_000;
  });

  // Only of what is here: a suite of the baseline that is gone is told as well.
  const before = report(join(cli.cwd, "baseline.json"));
  const here = before.suites.filter(({ suite }) => ["hello", "operator"].includes(suite));
  writeFileSync(join(cwd, "before.json"), JSON.stringify({ ...before, suites: here }));
  const { code, stdout } = await cli.run(["test", "--trust", "--baseline", "before.json", "--report", "json,html"], {
    cwd,
  });
  expect(code).toBe(1);
  const { suites } = report(join(cwd, "capstan-report/report.json"));
  expect(suites.flatMap(({ cases }) => cases.map((one) => [one.case, one.status]))).toEqual([
    ["looks at files", "failed"],
    ["has nothing to write with", "passed"],
    ["goes on when the model is overloaded", "passed"],
    ["uses the tools of the server", "failed"],
    ["asks before it uses other tools", "passed"],
    ["writes down a sum", "failed"],
  ]);
  const failed = suites.flatMap(({ cases }) =>
    cases.flatMap(({ trials }) =>
      trials.flatMap(({ verdicts }) => verdicts.filter(({ passed }) => !passed).map(({ grader }) => grader)),
    ),
  );
  expect(failed).toEqual(["cost", "tools_in_order", "tool_call", "files", "diff"]);
  const worse = suites
    .flatMap(({ regressions }) => regressions.map((one) => [one.case, one.what]))
    // A busy machine may be slower as well.
    .filter(([, what]) => what !== "duration");
  expect(worse).toEqual([
    ["looks at files", "pass_rate"],
    ["looks at files", "usd"],
    ["uses the tools of the server", "pass_rate"],
    ["writes down a sum", "pass_rate"],
  ]);
  const html = readFileSync(join(cwd, "capstan-report/report.html"), "utf8");
  for (const shown of [stdout, html]) {
    expect(shown).toContain("the pass rate fell from 1.00 to 0.00");
    expect(shown).toMatch(/a trial cost \$0\.0\d+ and now costs \$0\.1\d+/);
    expect(shown).toMatch(/expected .*mcp__everything__get-sum/);
    expect(shown).toContain("sum.txt");
  }
});

function contentOf(exchange: CassetteExchange | undefined): { readonly type: string }[] {
  if (exchange?.answer.kind !== "message") throw new Error("There is no message.");
  return exchange.answer.message.content;
}

test("cassettes of examples are small, and tell nothing of where they were made", () => {
  const files = readdirSync(AGENTS, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\bcassettes\/.*\.json$/.test(file),
  );
  expect(files.length).toBeGreaterThan(10);
  for (const file of files.map((name) => join(AGENTS, name))) {
    expect(statSync(file).size, file).toBeLessThan(64 * 1024);
    // Nor any directory of a machine, nor who was at it.
    expect(readFileSync(file, "utf8"), file).not.toMatch(
      /\/(?:home|root|tmp|Users|var|private|mnt)\/|Linux|Darwin|darwin/,
    );
  }
});
