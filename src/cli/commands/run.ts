import { type Command, InvalidArgumentError, Option } from "commander";
import type { RunFlags } from "../run-flags.ts";

const MODES = ["normal", "accept-edits", "read-only", "plan", "yolo"];
const WORKSPACES = ["in-place", "copy", "worktree", "clone"];
const SANDBOX_MODES = ["off", "preferred", "required"];

export function addRun(program: Command): void {
  program
    .command("run")
    .description("send an agent one message and show what it does")
    .argument("[prompt...]", "what the agent should do; read from standard input when it is left out")
    .option("-a, --agent <file>", "the agent's definition (YAML)")
    .option("-C, --cwd <dir>", "where the agent works", ".")
    .option("-m, --model <model>", "the model to use")
    .addOption(new Option("--mode <mode>", "what may run without asking").choices(MODES))
    .option("--allow <tool>", "a tool that may run without asking; once for each", each)
    .option("--yes", "allow, once, every call and plan that is asked about")
    .option("--deny", "deny everything that is asked about")
    .option("--schema <file>", "a JSON Schema the answer must match; prints the answer as JSON")
    .option("-f, --file <file>", "attach a text file, an image or a PDF; once for each", each)
    .option("--json", "print the events, one JSON object per line")
    .option("-r, --resume <id>", "go on with a session")
    .option("--fork <id>", "start from a copy of a session")
    .option("-c, --continue", "go on with the project's last session")
    .option("--max-turns <n>", "stop after n answers of the model", whole)
    .option("--max-usd <amount>", "stop when the session has cost this much", amount)
    .option("--timeout <duration>", "stop the turn after this time, such as 90s or 10m")
    .addOption(new Option("--workspace <kind>", "what the agent works on, made from the directory").choices(WORKSPACES))
    .addOption(new Option("--sandbox <mode>", "whether its commands are confined").choices(SANDBOX_MODES))
    .option("--rehearsal", "use the built-in scripted model: no key, no network")
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
      const { run } = await import("../run.ts");
      process.exitCode = await run(words, flags);
    });
}

function each(value: string, all: readonly string[] = []): string[] {
  return [...all, value];
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("It must be a whole number above zero.");
  return value;
}

function amount(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError("It must be an amount above zero.");
  return value;
}
