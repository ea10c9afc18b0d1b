import type { Command } from "commander";
import type { CreateAgentFlags, ListAgentsFlags } from "./agents.ts";
import { declareCommand } from "../declare-command.ts";

export function addAgentsCommand(program: Command): void {
  const agents = program
    .command("agents")
    .description("save agents for the server and its clients")
    .addHelpText("after", "\nExample:\n  $ capstan agents create reviewer.yaml");
  declareCommand(agents, "create", { server: "supported" })
    .description("save an agent file and everything it references, and print its id")
    .argument("<file>", "agent file")
    .option("--id <id>", "save as a new version of this agent (id, or its first or last characters)")
    .option("-p, --project <dir>", "project to save it in, with its settings (default: the current one)")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ capstan agents create reviewer.yaml\n  $ capstan agents create reviewer.yaml --id 3f9a11c2",
    )
    .action(async (file: string, flags: CreateAgentFlags) => (await import("./agents.ts")).createAgent(file, flags));
  declareCommand(agents, "list", { server: "supported", isDefault: true })
    .description("list saved agents, newest first")
    .option("-p, --project <dir>", "project (default: the current one)")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan agents list")
    .action(async (flags: ListAgentsFlags) => (await import("./agents.ts")).listAgents(flags));
}
