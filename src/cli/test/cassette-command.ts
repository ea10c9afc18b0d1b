import type { Command } from "commander";
import type { PruneFlags } from "./cassette-prune.ts";
import { declareCommand } from "../declare-command.ts";

export function addCassetteCommand(program: Command): void {
  const cassette = program
    .command("cassette")
    .description("show, compare and clean up recorded model answers")
    .addHelpText("after", "\nExample:\n  $ capstan cassette show cassettes/review.test/one-file.json");
  declareCommand(cassette, "show", { server: "ignored" })
    .description("show recorded requests and answers, thread by thread")
    .argument("<file>", "cassette")
    .option("--full", "show full texts, and the instructions")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan cassette show cassettes/review.test/one-file.json")
    .action(async (file: string, flags: { full?: boolean; json?: boolean }) =>
      (await import("./cassette.ts")).showCassette(file, flags),
    );
  declareCommand(cassette, "diff", { server: "ignored" })
    .description("show how two cassettes differ")
    .argument("<before>", "cassette")
    .argument("<after>", "another cassette of the same case")
    .option("--json", "print JSON lines, one per difference")
    .addHelpText(
      "after",
      "\nExit codes: 0 the cassettes are equal, 1 they differ.\n\nExample:\n  $ capstan cassette diff old/one-file.json cassettes/review.test/one-file.json",
    )
    .action(async (before: string, after: string, flags: { json?: boolean }) => {
      process.exitCode = await (await import("./cassette.ts")).diffCassettes(before, after, flags);
    });
  declareCommand(cassette, "prune", { server: "ignored" })
    .description("remove cassettes whose suite, case or trial no longer exists")
    .argument("[paths...]", "suites, or directories that contain suites", ["."])
    .option("--dry-run", "only show what would be removed")
    .option("--yes", "remove without asking")
    .option("--json", "print JSON, without asking")
    .addHelpText("after", "\nExample:\n  $ capstan cassette prune --dry-run")
    .action(async (paths: string[], flags: PruneFlags) => {
      process.exitCode = await (await import("./cassette-prune.ts")).pruneCassettes(paths, flags);
    });
}
