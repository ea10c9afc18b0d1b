import { type Command, Option } from "commander";
import type { UsageFlags } from "./usage.ts";
import { declareCommand } from "../target/declare-command.ts";

const GROUPINGS = ["day", "agent", "model", "session", "project", "thread", "tool"];

export function addUsage(program: Command): void {
  declareCommand(program, "usage", { server: "supported" })
    .description("show what was spent, on what and by whom")
    .addOption(new Option("--by <what>", "one line for each").choices(GROUPINGS).default("day"))
    .option("--since <duration>", "only the last so much time, such as 7d or 12h")
    .option("-p, --project <dir>", "only of this project")
    .option("--time-zone <zone>", "where days begin, such as Europe/Berlin; else as in the settings")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan usage --by model --since 7d")
    .action(async (flags: UsageFlags) => (await import("./usage.ts")).usage(flags));
}
