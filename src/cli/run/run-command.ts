import type { Command } from "commander";
import type { RunFlags } from "./run-flags.ts";
import { addSessionOptions, each } from "./session-options.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addRun(program: Command): void {
  const run = declareCommand(program, "run", { server: "supported" })
    .description("send an agent one message and show what it does")
    .argument("[prompt...]", "what the agent should do; read from standard input when it is left out");
  addSessionOptions(run)
    .option("--schema <file>", "a JSON Schema the answer must match; prints the answer as JSON")
    .option("-f, --file <file>", "attach a text file, an image or a PDF; once for each", each)
    .option("--json", "print the events, one JSON object per line")
    .option("--detach", "leave the session to the server (CAPSTAN_URL) and print its id")
    .option("--trace <file>", "write every event and preview, and the stack of a failure, to a file")
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
