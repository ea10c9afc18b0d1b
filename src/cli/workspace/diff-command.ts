import type { Command } from "commander";
import type { DiffFlags } from "./diff.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addDiff(program: Command): void {
  declareCommand(program, "diff", { server: "supported" })
    .description("show which files changed in a session, and which call changed them")
    .argument("[id]", "the id, or its beginning or end; the project's last session without it")
    .option("--since <moment>", "start, turn (the beginning of the last one) or a checkpoint", "start")
    .option("--until <moment>", "a checkpoint; now without it")
    .option("--patch", "print the changes themselves, as a patch that git can apply")
    .option("--by-call", "step by step: what each call may have changed")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan diff
  $ capstan diff 3f9a11c2 --since turn --patch
  $ capstan diff 3f9a11c2 --by-call`,
    )
    .action(async (session: string | undefined, flags: DiffFlags) => (await import("./diff.ts")).diff(session, flags));
  declareCommand(program, "checkpoints", { server: "supported" })
    .description("list the states of a session's files that can be brought back")
    .argument("[id]", "the id, or its beginning or end; the project's last session without it")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan checkpoints 3f9a11c2")
    .action(async (session: string | undefined, flags: { json?: boolean }) =>
      (await import("./checkpoints.ts")).checkpoints(session, flags),
    );
}
