import type { Command } from "commander";
import type { CreateFlags, ListFlags } from "./agents.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addAgents(program: Command): void {
  const agents = program
    .command("agents")
    .description("store agents, for the server and its clients")
    .addHelpText("after", "\nExample:\n  $ capstan agents create reviewer.yaml");
  declareCommand(agents, "create", { server: "supported" })
    .description("store an agent file, with all that it says, to be used by its id")
    .argument("<file>", "the agent file")
    .option("--id <id>", "as a new version of this agent; its id, or the beginning or end of it")
    .option("-p, --project <dir>", "of this project, with its settings; else of the one you are in")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ capstan agents create reviewer.yaml\n  $ capstan agents create reviewer.yaml --id 3f9a11c2",
    )
    .action(async (file: string, flags: CreateFlags) => (await import("./agents.ts")).create(file, flags));
  declareCommand(agents, "list", { server: "supported", isDefault: true })
    .description("list stored agents, newest first")
    .option("-p, --project <dir>", "of this project; else of the one you are in")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan agents list")
    .action(async (flags: ListFlags) => (await import("./agents.ts")).list(flags));
}
