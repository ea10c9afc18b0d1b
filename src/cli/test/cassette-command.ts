import type { Command } from "commander";
import type { PruneFlags } from "./cassette-prune.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addCassette(program: Command): void {
  const cassette = program
    .command("cassette")
    .description("see, compare and clean up what models said in recorded trials")
    .addHelpText("after", "\nExample:\n  $ capstan cassette show cassettes/review.test/one-file.json");
  declareCommand(cassette, "show", { server: "ignored" })
    .description("show what a model was asked and what it said, thread by thread")
    .argument("<file>", "the cassette")
    .option("--full", "do not cut long texts; with instructions")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan cassette show cassettes/review.test/one-file.json")
    .action(async (file: string, flags: { full?: boolean; json?: boolean }) =>
      (await import("./cassette.ts")).show(file, flags),
    );
  declareCommand(cassette, "diff", { server: "ignored" })
    .description("tell what two cassettes ask and say differently")
    .argument("<before>", "a cassette")
    .argument("<after>", "another one of the same case")
    .option("--json", "print JSON, one difference per line")
    .addHelpText(
      "after",
      "\nExit codes: 0 they are the same, 1 they differ.\n\nExample:\n  $ capstan cassette diff old/one-file.json cassettes/review.test/one-file.json",
    )
    .action(async (before: string, after: string, flags: { json?: boolean }) => {
      process.exitCode = await (await import("./cassette.ts")).diff(before, after, flags);
    });
  declareCommand(cassette, "prune", { server: "ignored" })
    .description("remove cassettes whose suite, case or trial is gone")
    .argument("[paths...]", "suites, or directories with them", ["."])
    .option("--dry-run", "only show what would be removed")
    .option("--yes", "do not ask")
    .option("--json", "print JSON; asks nothing")
    .addHelpText("after", "\nExample:\n  $ capstan cassette prune --dry-run")
    .action(async (paths: string[], flags: PruneFlags) => {
      process.exitCode = await (await import("./cassette-prune.ts")).prune(paths, flags);
    });
}
