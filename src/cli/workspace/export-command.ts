import type { Command } from "commander";
import type { ExportFlags } from "./export.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addExport(program: Command): void {
  declareCommand(program, "export", { server: "supported" })
    .description("take a session's files out as a patch, a zip file or a branch; its log: sessions export")
    .argument("[id]", "the id, or its beginning or end; the project's last session without it")
    .option("--patch <file>", "what changed, as a patch that git can apply; - for standard output")
    .option("--zip <file>", "all files as they are now")
    .option("--branch [name]", "what changed, as a commit on a branch of the repository it came from")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan export 3f9a11c2 --patch changes.patch
  $ capstan export 3f9a11c2 --branch fix-typo`,
    )
    .action(async (session: string | undefined, flags: ExportFlags) =>
      (await import("./export.ts")).exportFiles(session, flags),
    );
}
