import type { Command } from "commander";
import type { DiffFlags } from "./diff.ts";
import { declareCommand } from "../declare-command.ts";

export function addDiffCommand(program: Command): void {
  declareCommand(program, "diff", { server: "supported" })
    .description("show which files a session changed, and which call changed them")
    .argument("[id]", "session id, or its first or last characters (default: the project's last session)")
    .option("--since <moment>", "start, turn (start of the last turn) or a checkpoint", "start")
    .option("--until <moment>", "checkpoint (default: now)")
    .option("--patch", "print a patch that git can apply")
    .option("--by-call", "show the changes of each call")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan diff
  $ capstan diff 3f9a11c2 --since turn --patch
  $ capstan diff 3f9a11c2 --by-call`,
    )
    .action(async (session: string | undefined, flags: DiffFlags) =>
      (await import("./diff.ts")).showDiff(session, flags),
    );
  declareCommand(program, "checkpoints", { server: "supported" })
    .description("list the checkpoints of a session's files")
    .argument("[id]", "session id, or its first or last characters (default: the project's last session)")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan checkpoints 3f9a11c2")
    .action(async (session: string | undefined, flags: { json?: boolean }) =>
      (await import("./checkpoints.ts")).checkpoints(session, flags),
    );
}
