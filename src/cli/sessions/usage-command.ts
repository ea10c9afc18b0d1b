import { type Command, Option } from "commander";
import type { UsageFlags } from "./usage.ts";
import { declareCommand } from "../declare-command.ts";

const GROUPINGS = ["day", "agent", "model", "session", "project", "thread", "tool"];

export function addUsageCommand(program: Command): void {
  declareCommand(program, "usage", { server: "supported" })
    .description("show spending by day, agent, model and more")
    .addOption(new Option("--by <what>", "one line per").choices(GROUPINGS).default("day"))
    .option("--since <duration>", "only this period, such as 7d or 12h")
    .option("-p, --project <dir>", "only this project")
    .option("--time-zone <zone>", "time zone for days, such as Europe/Berlin (default: from the settings)")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan usage --by model --since 7d")
    .action(async (flags: UsageFlags) => (await import("./usage.ts")).showUsage(flags));
}
