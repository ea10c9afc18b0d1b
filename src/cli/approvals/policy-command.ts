import { type Command, Option } from "commander";
import type { ReplayFlags } from "./policy-replay.ts";
import type { CheckFlags } from "./policy.ts";
import { declareCommand } from "../target/declare-command.ts";

const MODES = ["normal", "accept-edits", "read-only", "plan", "yolo"];

export function addPolicy(program: Command): void {
  const policy = program.command("policy").description("try permission rules without running anything");
  policy.addHelpText("after", '\nExample:\n  $ capstan policy check "Bash(rm -rf build)"');
  declareCommand(policy, "check", { server: "supported" })
    .description("explain what would be decided about a tool call")
    .argument("<call>", "the call, such as `Bash(rm -rf build)`, `Read(./notes.txt)` or `mcp__files__list`")
    .option("-a, --agent <file>", "as it would be with this agent")
    .addOption(new Option("--mode <mode>", "as it would be in this mode").choices(MODES))
    .option("-C, --cwd <dir>", "as it would be in this directory", ".")
    .option("--json", "print JSON")
    .addHelpText("after", '\nExample:\n  $ capstan policy check "Bash(rm -rf build)"')
    .action(async (call: string, flags: CheckFlags) => (await import("./policy.ts")).check(call, flags));
  declareCommand(policy, "replay", { server: "supported" })
    .description("run changed rules over recorded decisions, and list what would be decided otherwise")
    .requiredOption("--rules <file>", "the changed rules: a YAML file with `permissions`, as in the settings")
    .option("--since <duration>", "only decisions of this last time, such as 7d")
    .option("-s, --session <id>", "only this session: the id, or its beginning or end")
    .option("--json", "print JSON, one decision per line")
    .addHelpText("after", "\nExample:\n  $ capstan policy replay --rules new.yaml --since 7d")
    .action(async (flags: ReplayFlags) => (await import("./policy-replay.ts")).replay(flags));
}
