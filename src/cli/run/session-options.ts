import { type Command, InvalidArgumentError, Option } from "commander";
import { ENGINES } from "../../core/agent/engine-name.ts";

const MODES = ["normal", "accept-edits", "read-only", "plan", "yolo"];
const WORKSPACES = ["in-place", "copy", "worktree", "clone"];
const SANDBOX_MODES = ["off", "preferred", "required"];

/** What a session is opened with, for every command that opens one. */
export function addSessionOptions(command: Command): Command {
  return command
    .option("-a, --agent <file>", "the agent's definition (YAML)")
    .option("--input <name=value>", "a value for one of the agent's inputs; once for each", each)
    .option("-C, --cwd <dir>", "where the agent works", ".")
    .addOption(engineOption())
    .option("-m, --model <model>", "the model to use")
    .addOption(new Option("--mode <mode>", "what may run without asking").choices(MODES))
    .option("--allow <tool>", "a tool that may run without asking; once for each", each)
    .option("--yes", "allow, once, every call and plan that is asked about")
    .option("--deny", "deny everything that is asked about")
    .option("-r, --resume <id>", "go on with a session")
    .option("--fork <id>", "start from a copy of a session")
    .option("-c, --continue", "go on with the project's last session")
    .option("--max-steps <n>", "stop after n model responses", whole)
    .option("--max-usd <amount>", "stop when the session has cost this much", amount)
    .option("--timeout <duration>", "stop the turn after this time, such as 90s or 10m")
    .addOption(new Option("--workspace <kind>", "what the agent works on, made from the directory").choices(WORKSPACES))
    .addOption(new Option("--sandbox <mode>", "whether its commands are confined").choices(SANDBOX_MODES))
    .option("--trust", "trust the project's files as they are now, for this run alone; for CI")
    .option("--rehearsal", "use the built-in scripted model: no key, no network");
}

export function engineOption(about = "what runs the agent"): Option {
  return new Option("--engine <name>", about).choices(ENGINES);
}

export function each(value: string, all: readonly string[] = []): string[] {
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
