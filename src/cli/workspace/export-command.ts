import type { Command } from "commander";
import type { ExportWorkspaceFlags } from "./export.ts";
import { declareCommand } from "../declare-command.ts";

export function addExportCommand(program: Command): void {
  declareCommand(program, "export", { server: "supported" })
    .description("export a session's files as a patch, a zip file or a branch; for its log use `sessions export`")
    .argument("[id]", "session id, or its first or last characters (default: the project's last session)")
    .option("--patch <file>", "write the changes as a git patch; - for standard output")
    .option("--zip <file>", "write all files as they are now")
    .option("--branch [name]", "commit the changes to a branch of the source repository")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Examples:
  $ capstan export 3f9a11c2 --patch changes.patch
  $ capstan export 3f9a11c2 --branch fix-typo`,
    )
    .action(async (session: string | undefined, flags: ExportWorkspaceFlags) =>
      (await import("./export.ts")).exportFiles(session, flags),
    );
}
