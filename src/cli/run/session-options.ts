import { type Command, InvalidArgumentError, Option } from "commander";
import { ENGINES } from "../../core/agent/engine-name.ts";

const MODES = ["normal", "accept-edits", "read-only", "plan", "yolo"];
const WORKSPACES = ["in-place", "copy", "worktree", "clone"];
const SANDBOX_MODES = ["off", "preferred", "required"];

/** Adds the options that every command that opens a session takes. */
export function addSessionOptions(command: Command): Command {
  return command
    .option("-a, --agent <file>", "agent file (YAML)")
    .option("--input <name=value>", "value for one of the agent's inputs (repeatable)", each)
    .option("-C, --cwd <dir>", "working directory", ".")
    .addOption(engineOption())
    .option("-m, --model <model>", "model to use")
    .addOption(new Option("--mode <mode>", "permission mode").choices(MODES))
    .option("--allow <tool>", "allow a tool without asking (repeatable)", each)
    .option("--yes", "approve every request, once each")
    .option("--deny", "deny every request")
    .option("-r, --resume <id>", "continue a session")
    .option("--fork <id>", "continue in a copy of a session")
    .option("-c, --continue", "continue the project's last session")
    .option("--max-steps <n>", "stop after n model responses", whole)
    .option("--max-usd <amount>", "stop when the session has cost this much (USD)", amount)
    .option("--timeout <duration>", "stop the turn after this time, such as 90s or 10m")
    .addOption(new Option("--workspace <kind>", "what the agent works on").choices(WORKSPACES))
    .addOption(new Option("--sandbox <mode>", "whether to confine its commands").choices(SANDBOX_MODES))
    .option("--trust", "trust the project's files for this run only; for CI")
    .option("--rehearsal", "use the built-in scripted model: no key, no network");
}

export function engineOption(about = "engine that runs the agent"): Option {
  return new Option("--engine <name>", about).choices(ENGINES);
}

export function each(value: string, all: readonly string[] = []): string[] {
  return [...all, value];
}

function whole(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("Must be a whole number above zero.");
  return value;
}

function amount(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError("Must be an amount above zero.");
  return value;
}
