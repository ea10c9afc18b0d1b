import type { Command } from "commander";
import { declareCommand } from "../declare-command.ts";

export function addApplyCommand(program: Command): void {
  declareCommand(program, "apply", { server: "supported" })
    .description("apply the changes in a session's workspace to its source directory")
    .argument("<id>", "session id, or its first or last characters")
    .option("--dry-run", "only show what would change, and any conflicts")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan apply 3f9a11c2 --dry-run")
    .action(async (session: string, flags: { dryRun?: boolean; json?: boolean }) => {
      process.exitCode = await (await import("./apply.ts")).apply(session, flags);
    });
}
