import type { Command } from "commander";
import { declareCommand } from "../declare-command.ts";

export function addConfigCommand(program: Command): void {
  const config = program.command("config").description("show the configuration");
  declareCommand(config, "show", { server: "ignored", isDefault: true })
    .description("show each setting and where it comes from")
    .option("-a, --agent <file>", "with this agent's settings")
    .option("-C, --cwd <dir>", "working directory", ".")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan config show")
    .action(async (flags: { agent?: string; cwd: string; json?: boolean }) =>
      (await import("./config-view.ts")).showConfig(flags),
    );
  declareCommand(program, "projects", { server: "ignored" })
    .description("list the projects that have sessions on this machine")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan projects")
    .action(async (flags: { json?: boolean }) => (await import("./config-view.ts")).projects(flags));
}
