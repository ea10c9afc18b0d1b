import { type Command, Option } from "commander";
import type { InitFlags } from "./init.ts";
import { declareCommand } from "../declare-command.ts";

export function addInitCommand(program: Command): void {
  declareCommand(program, "init", { server: "ignored" })
    .description("create a small agent that is ready to run")
    .argument("[dir]", "directory; created if it does not exist", ".")
    .addOption(
      new Option("--template <name>", "template to start from").choices(["assistant", "reviewer", "extractor"]),
    )
    .option("--name <name>", "agent name (default: the directory's name)")
    .option("--yes", "use the defaults without asking")
    .addHelpText("after", "\nExamples:\n  $ capstan init\n  $ capstan init reviewer --template reviewer --yes")
    .action(async (directory: string, flags: InitFlags) => (await import("./init.ts")).init(directory, flags));
}
