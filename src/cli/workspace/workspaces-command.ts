import type { Command } from "commander";
import type { CleanFlags } from "./workspaces-clean.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addWorkspaces(program: Command): void {
  const workspaces = program
    .command("workspaces")
    .description("see and clean up what sessions keep on this disk")
    .addHelpText("after", "\nExample:\n  $ capstan workspaces clean --older-than 30d");
  declareCommand(workspaces, "list", { server: "refused", isDefault: true })
    .description("list workspaces and checkpoints, largest first")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan workspaces list")
    .action(async (flags: { json?: boolean }) => (await import("./workspaces.ts")).list(flags));
  declareCommand(workspaces, "clean", { server: "refused" })
    .description("remove workspaces and checkpoints by age and size, and what belongs to no session")
    .argument("[id...]", "only these: ids of sessions, or their beginnings or ends")
    .option("--older-than <duration>", "without activity for this long, such as 30d")
    .option("--larger-than <size>", "taking up more than this, such as 500MB")
    .option("--dry-run", "only show what would be removed")
    .option("--yes", "do not ask; changes that were not exported are asked about all the same")
    .option("--discard-changes", "remove changes that were not exported as well")
    .option("--json", "print JSON; asks nothing")
    .addHelpText("after", "\nExample:\n  $ capstan workspaces clean --older-than 30d --larger-than 100MB")
    .action(async (ids: string[], flags: CleanFlags) => {
      process.exitCode = await (await import("./workspaces-clean.ts")).clean(ids, flags);
    });
}
