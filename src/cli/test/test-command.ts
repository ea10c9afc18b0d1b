import { type Command, InvalidArgumentError, Option } from "commander";
import type { TestFlags } from "./test.ts";
import { each, engineOption } from "../run/session-options.ts";
import { declareCommand } from "../declare-command.ts";

export function addTestCommand(program: Command): void {
  declareCommand(program, "test", { server: "ignored" })
    .description("run test suites: run agents on cases and grade the results")
    .argument("[paths...]", "suites (*.test.yaml), agent files with tests, or directories that contain them", ["."])
    .addOption(
      new Option("--replay", "answer from cassettes, without a key or network (default)").conflicts([
        "record",
        "live",
        "rehearsal",
      ]),
    )
    .addOption(new Option("--record", "call the model if there is no cassette, and record one").conflicts("live"))
    .addOption(new Option("--live", "call the model and record nothing").conflicts("rehearsal"))
    .option("--rehearsal", "use the built-in scripted model: no key, no network")
    .addOption(engineOption("engine for cases that name none"))
    .option("--filter <words>", "only cases whose name contains this, or with a #tag (repeatable)", each)
    .option("--trials <n>", "number of trials per case", count)
    .option("--parallel <n>", "number of trials at a time", count, 2)
    .option("--report <kinds>", "write reports: junit, json, md, html; name a file with json=out.json", list)
    .option("--baseline <file>", "JSON report of an earlier run; fail if results are worse")
    .option("--accept-drift", "replay even if requests differ from the cassette")
    .option("--allow-side-effects", "run cases that work in the suite's own directory")
    .addOption(
      new Option(
        "--sdk <path_or_version>",
        "also replay on another Claude Agent SDK, and show what behaves differently",
      ).conflicts(["record", "live", "rehearsal", "report", "baseline", "acceptDrift"]),
    )
    .option("--trust", "trust suites, agents and the project's files for this run only; for CI")
    .option("--json", "print the whole run as JSON")
    .addHelpText(
      "after",
      `
Exit codes: 0 all passed, 1 a case failed, 2 usage or configuration error,
3 a case could not be run or graded.

Examples:
  $ capstan test                               replay all suites in this directory
  $ capstan test --record reviewer.test.yaml   needs a credential
  $ capstan test --filter "#smoke" --report junit,html
  $ capstan test --replay --sdk 0.3.324        compare with another SDK`,
    )
    .action(async (paths: string[], flags: TestFlags) => {
      process.exitCode = await (await import("./test.ts")).testSuites(paths, flags);
    });
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("Must be a whole number above zero.");
  return value;
}

function list(text: string): string[] {
  return text.split(",").map((word) => word.trim());
}
