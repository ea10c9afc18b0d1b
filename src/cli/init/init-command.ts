import { type Command, Option } from "commander";
import type { InitFlags } from "./init.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addInit(program: Command): void {
  declareCommand(program, "init", { server: "ignored" })
    .description("make a small agent that runs at once")
    .argument("[dir]", "where; made when it is not there", ".")
    .addOption(new Option("--template <name>", "what to begin with").choices(["assistant", "reviewer", "extractor"]))
    .option("--name <name>", "the agent's name; else that of the directory")
    .option("--yes", "ask nothing: what is not given is as usual")
    .addHelpText("after", "\nExamples:\n  $ capstan init\n  $ capstan init reviewer --template reviewer --yes")
    .action(async (directory: string, flags: InitFlags) => (await import("./init.ts")).init(directory, flags));
}
