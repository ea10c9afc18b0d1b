import type { Command } from "commander";
import { declareCommand } from "../target/declare-command.ts";

export function addStore(program: Command): void {
  declareCommand(program, "backup", { server: "refused" })
    .description("write a copy of the store to a file while sessions go on")
    .argument("<file>", "a file that is not there yet")
    .addHelpText("after", "\nExample:\n  $ capstan backup capstan-backup.db")
    .action(async (file: string) => (await import("./store-work.ts")).backup(file));
  declareCommand(program, "restore", { server: "refused" })
    .description("put a backup in the place of the store; what was there is kept beside it")
    .argument("<file>", "a file made by `capstan backup`")
    .addHelpText("after", "\nExample:\n  $ capstan restore capstan-backup.db")
    .action(async (file: string) => (await import("./store-work.ts")).restore(file));
  declareCommand(program, "prune", { server: "refused" })
    .description("erase sessions that have been quiet for long; says which, and does it only with --yes")
    .requiredOption("--older-than <duration>", "without activity for this long, such as 30d")
    .option("--yes", "erase them; without it nothing is changed")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan prune --older-than 30d")
    .action(async (flags: { olderThan: string; yes?: boolean; json?: boolean }) =>
      (await import("./store-work.ts")).prune(flags),
    );
}
