import type { Command } from "commander";
import type { TrustCommandFlags } from "./trust.ts";
import { declareCommand } from "../declare-command.ts";

export function addTrustCommand(program: Command): void {
  const trust = program
    .command("trust")
    .description("review what a project's files let agents do, and trust exactly that content")
    .addHelpText("after", "\nExample:\n  $ capstan trust agent.yaml");
  declareCommand(trust, "add", { server: "ignored", isDefault: true })
    .description("show what the files allow, and ask whether to trust them (default)")
    .argument("[paths...]", "directories, agent files or suites (default: the current project and its agent.yaml)")
    .option("-C, --cwd <dir>", "working directory of the agents", ".")
    .option("--yes", "trust without asking; required without a terminal")
    .option("--json", "print JSON; requires --yes")
    .addHelpText(
      "after",
      "\nExamples:\n  $ capstan trust\n  $ capstan trust agent.yaml\n  $ capstan trust --yes --json",
    )
    .action(async (paths: string[], flags: TrustCommandFlags) => {
      process.exitCode = await (await import("./trust.ts")).trust(paths, flags);
    });
  declareCommand(trust, "list", { server: "ignored" })
    .description("list trusted files")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan trust list")
    .action(async (flags: { json?: boolean }) => (await import("./trust.ts")).listTrust(flags));
  declareCommand(trust, "revoke", { server: "ignored" })
    .description("stop trusting files")
    .argument("[paths...]", "files or project directories")
    .option("--all", "revoke everything")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan trust revoke agent.yaml")
    .action(async (paths: string[], flags: { all?: boolean; json?: boolean }) =>
      (await import("./trust.ts")).revokeTrust(paths, flags),
    );
}
