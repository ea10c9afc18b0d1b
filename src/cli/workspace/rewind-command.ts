import type { Command } from "commander";
import type { RewindFlags } from "./rewind.ts";
import { declareCommand } from "../declare-command.ts";

export function addRewindCommand(program: Command): void {
  declareCommand(program, "rewind", { server: "supported" })
    .description("return a session's files to an earlier state; can be undone")
    .argument("<id>", "session id, or its first or last characters")
    .option("--to <moment>", "start, turn (start of the last turn) or a checkpoint")
    .option("--conversation", "also rewind the conversation")
    .option("--undo", "undo the last rewind")
    .option("--overwrite", "also overwrite files that someone else has changed since")
    .option("--dry-run", "only show what would change")
    .option("--patch", "with --dry-run: print a patch of what would be undone")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan rewind 3f9a11c2 --to turn --dry-run
  $ capstan rewind 3f9a11c2 --to start --conversation
  $ capstan rewind 3f9a11c2 --undo`,
    )
    .action(async (session: string, flags: RewindFlags) =>
      (await import("./rewind.ts")).rewindWorkspace(session, flags),
    );
}
