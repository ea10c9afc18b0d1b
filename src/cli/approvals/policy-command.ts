import { type Command, Option } from "commander";
import type { ReplayFlags } from "./policy-replay.ts";
import type { CheckFlags } from "./policy.ts";
import { declareCommand } from "../declare-command.ts";

const MODES = ["normal", "accept-edits", "read-only", "plan", "yolo"];

export function addPolicyCommand(program: Command): void {
  const policy = program.command("policy").description("test permission rules without running anything");
  policy.addHelpText("after", '\nExample:\n  $ capstan policy check "Bash(rm -rf build)"');
  declareCommand(policy, "check", { server: "supported" })
    .description("explain whether a tool call would be allowed")
    .argument("<call>", "tool call, such as `Bash(rm -rf build)`, `Read(./notes.txt)` or `mcp__files__list`")
    .option("-a, --agent <file>", "use this agent's rules")
    .addOption(new Option("--mode <mode>", "use this mode").choices(MODES))
    .option("-C, --cwd <dir>", "working directory", ".")
    .option("--json", "print JSON")
    .addHelpText("after", '\nExample:\n  $ capstan policy check "Bash(rm -rf build)"')
    .action(async (call: string, flags: CheckFlags) => (await import("./policy.ts")).check(call, flags));
  declareCommand(policy, "replay", { server: "supported" })
    .description("replay recorded decisions against changed rules, and list the differences")
    .requiredOption("--rules <file>", "YAML file with the changed `permissions`, as in the settings")
    .option("--since <duration>", "only decisions of this period, such as 7d")
    .option("-s, --session <id>", "only this session (id, or its first or last characters)")
    .option("--json", "print JSON lines, one per decision")
    .addHelpText("after", "\nExample:\n  $ capstan policy replay --rules new.yaml --since 7d")
    .action(async (flags: ReplayFlags) => (await import("./policy-replay.ts")).showPolicyReplay(flags));
}
