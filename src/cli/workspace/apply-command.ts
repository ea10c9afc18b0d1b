import type { Command } from "commander";
import { declareCommand } from "../target/declare-command.ts";

export function addApply(program: Command): void {
  declareCommand(program, "apply", { server: "supported" })
    .description("write what changed in a session's workspace back to where its files came from")
    .argument("<id>", "the id, or its beginning or end")
    .option("--dry-run", "only show what would be written, and what is in the way")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan apply 3f9a11c2 --dry-run")
    .action(async (session: string, flags: { dryRun?: boolean; json?: boolean }) => {
      process.exitCode = await (await import("./apply.ts")).apply(session, flags);
    });
}
