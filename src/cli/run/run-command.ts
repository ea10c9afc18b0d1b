import type { Command } from "commander";
import type { RunFlags } from "./run-flags.ts";
import { addSessionOptions, each } from "./session-options.ts";
import { declareCommand } from "../declare-command.ts";

export function addRunCommand(program: Command): void {
  const run = declareCommand(program, "run", { server: "supported" })
    .description("send an agent one message and show what it does")
    .argument("[prompt...]", "what the agent should do (default: read from standard input)");
  addSessionOptions(run)
    .option("--schema <file>", "JSON Schema that the answer must match; prints the answer as JSON")
    .option("-f, --file <file>", "attach a text file, an image or a PDF (repeatable)", each)
    .option("--json", "print the events as JSON lines")
    .option("--detach", "leave the session running on the server (CAPSTAN_URL) and print its id")
    .option("--trace <file>", "write all events, previews and stack traces to a file")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan run "what does this project do?"
  $ capstan run --mode accept-edits "fix the typo in README.md"
  $ capstan run --workspace worktree "try another parser"
  $ git diff | capstan run "review this change"
  $ capstan run --schema city.json "which city is largest?"`,
    )
    .action(async (words: string[], flags: RunFlags) => {
      const { run } = await import("./run.ts");
      process.exitCode = await run(words, flags);
    });
}
