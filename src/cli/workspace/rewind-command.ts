import type { Command } from "commander";
import type { RewindFlags } from "./rewind.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addRewind(program: Command): void {
  declareCommand(program, "rewind", { server: "supported" })
    .description("bring a session's files back to an earlier state; it can be undone")
    .argument("<id>", "the id, or its beginning or end")
    .option("--to <moment>", "start, turn (the beginning of the last one) or a checkpoint")
    .option("--conversation", "the conversation goes back as well")
    .option("--undo", "take the last rewind back")
    .option("--overwrite", "also take back files that someone else has changed since")
    .option("--dry-run", "only show what would change")
    .option("--patch", "with --dry-run: as a patch of what would be taken back")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan rewind 3f9a11c2 --to turn --dry-run
  $ capstan rewind 3f9a11c2 --to start --conversation
  $ capstan rewind 3f9a11c2 --undo`,
    )
    .action(async (session: string, flags: RewindFlags) => (await import("./rewind.ts")).rewind(session, flags));
}
