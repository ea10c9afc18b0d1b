import type { Command } from "commander";
import type { TrustCommandFlags } from "./trust.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addTrust(program: Command): void {
  const trust = program
    .command("trust")
    .description("review what a project's files let agents do, and trust exactly that content")
    .addHelpText("after", "\nExample:\n  $ capstan trust agent.yaml");
  declareCommand(trust, "add", { server: "ignored", isDefault: true })
    .description("show what would be widened, and ask; the default")
    .argument("[paths...]", "directories, agent files or suites; without any, the project here with its agent.yaml")
    .option("-C, --cwd <dir>", "where agents work", ".")
    .option("--yes", "trust without asking; needed where there is no terminal")
    .option("--json", "print JSON; needs --yes")
    .addHelpText(
      "after",
      "\nExamples:\n  $ capstan trust\n  $ capstan trust agent.yaml\n  $ capstan trust --yes --json",
    )
    .action(async (paths: string[], flags: TrustCommandFlags) => {
      process.exitCode = await (await import("./trust.ts")).trust(paths, flags);
    });
  declareCommand(trust, "list", { server: "ignored" })
    .description("list what is trusted")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan trust list")
    .action(async (flags: { json?: boolean }) => (await import("./trust.ts")).list(flags));
  declareCommand(trust, "revoke", { server: "ignored" })
    .description("trust files no longer")
    .argument("[paths...]", "files, or directories of projects")
    .option("--all", "everything")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan trust revoke agent.yaml")
    .action(async (paths: string[], flags: { all?: boolean; json?: boolean }) =>
      (await import("./trust.ts")).revoke(paths, flags),
    );
}
