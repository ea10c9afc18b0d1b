import type { Command } from "commander";
import { declareCommand } from "../declare-command.ts";

export function addStoreCommand(program: Command): void {
  declareCommand(program, "backup", { server: "refused" })
    .description("copy the store to a file while sessions keep running")
    .argument("<file>", "file that does not exist yet")
    .addHelpText("after", "\nExample:\n  $ capstan backup capstan-backup.db")
    .action(async (file: string) => (await import("./store-work.ts")).backup(file));
  declareCommand(program, "restore", { server: "refused" })
    .description("replace the store with a backup; the old store is kept next to it")
    .argument("<file>", "file from `capstan backup`")
    .addHelpText("after", "\nExample:\n  $ capstan restore capstan-backup.db")
    .action(async (file: string) => (await import("./store-work.ts")).restore(file));
  declareCommand(program, "prune", { server: "refused" })
    .description("list inactive sessions, and erase them with --yes")
    .requiredOption("--older-than <duration>", "inactive for this long, such as 30d")
    .option("--yes", "erase the sessions (default: only list them)")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan prune --older-than 30d")
    .action(async (flags: { olderThan: string; yes?: boolean; json?: boolean }) =>
      (await import("./store-work.ts")).pruneStore(flags),
    );
}
