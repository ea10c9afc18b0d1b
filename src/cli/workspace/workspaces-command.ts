import type { Command } from "commander";
import type { CleanFlags } from "./workspaces-clean.ts";
import { declareCommand } from "../declare-command.ts";

export function addWorkspacesCommand(program: Command): void {
  const workspaces = program
    .command("workspaces")
    .description("list and clean up the workspaces and checkpoints on this disk")
    .addHelpText("after", "\nExample:\n  $ capstan workspaces clean --older-than 30d");
  declareCommand(workspaces, "list", { server: "refused", isDefault: true })
    .description("list workspaces and checkpoints, largest first")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan workspaces list")
    .action(async (flags: { json?: boolean }) => (await import("./workspaces.ts")).listWorkspaces(flags));
  declareCommand(workspaces, "clean", { server: "refused" })
    .description("remove workspaces and checkpoints by age and size, and leftovers of no session")
    .argument("[id...]", "only these sessions (ids, or their first or last characters)")
    .option("--older-than <duration>", "inactive for this long, such as 30d")
    .option("--larger-than <size>", "larger than this, such as 500MB")
    .option("--dry-run", "only show what would be removed")
    .option("--yes", "do not ask, except about unexported changes")
    .option("--discard-changes", "also remove unexported changes")
    .option("--json", "print JSON, without asking")
    .addHelpText("after", "\nExample:\n  $ capstan workspaces clean --older-than 30d --larger-than 100MB")
    .action(async (ids: string[], flags: CleanFlags) => {
      process.exitCode = await (await import("./workspaces-clean.ts")).clean(ids, flags);
    });
}
