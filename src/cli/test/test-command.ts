import { type Command, InvalidArgumentError, Option } from "commander";
import type { TestFlags } from "./test.ts";
import { each, engineOption } from "../run/session-options.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addTest(program: Command): void {
  declareCommand(program, "test", { server: "ignored" })
    .description("run suites: agents tried on cases, and graded")
    .argument("[paths...]", "suites (*.test.yaml), agent files with tests, or directories with them", ["."])
    .addOption(
      new Option("--replay", "answer from cassettes: no key, no network; the default").conflicts([
        "record",
        "live",
        "rehearsal",
      ]),
    )
    .addOption(new Option("--record", "ask the model where there is no cassette, and make one").conflicts("live"))
    .addOption(new Option("--live", "ask the model, and record nothing").conflicts("rehearsal"))
    .option("--rehearsal", "ask the built-in scripted model: no key, no network")
    .addOption(engineOption("what runs cases that name no engine"))
    .option("--filter <words>", "only cases whose name has this, or with a tag: #tag; once for each", each)
    .option("--trials <n>", "so many trials of each case", count)
    .option("--parallel <n>", "so many trials at a time", count, 2)
    .option(
      "--report <kinds>",
      "write reports: junit, json, md, html; each may be given a file, as in json=out.json",
      list,
    )
    .option("--baseline <file>", "a JSON report of an earlier run: what is worse now fails")
    .option("--accept-drift", "replay also where the agent asks otherwise than on the cassette")
    .option("--allow-side-effects", "run cases that work in the suite's own directory")
    .addOption(
      new Option(
        "--sdk <path_or_version>",
        "replay on another Claude Agent SDK as well, and tell what behaves differently",
      ).conflicts(["record", "live", "rehearsal", "report", "baseline", "acceptDrift"]),
    )
    .option("--trust", "trust suites, agents and the project's files as they are now, for this run alone; for CI")
    .option("--json", "print the whole run as JSON")
    .addHelpText(
      "after",
      `
Exit codes: 0 all passed, 1 something failed, 2 usage or configuration,
3 something could not be carried out or judged.

Examples:
  $ capstan test                               replay all suites below here
  $ capstan test --record reviewer.test.yaml   needs a credential
  $ capstan test --filter "#smoke" --report junit,html
  $ capstan test --replay --sdk 0.3.324        what behaves differently there`,
    )
    .action(async (paths: string[], flags: TestFlags) => {
      process.exitCode = await (await import("./test.ts")).test(paths, flags);
    });
}

function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It must be a whole number above zero.");
  return value;
}

function list(text: string): string[] {
  return text.split(",").map((word) => word.trim());
}
