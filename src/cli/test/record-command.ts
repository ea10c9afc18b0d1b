import type { Command } from "commander";
import type { RecordFlags } from "./record.ts";
import { declareCommand } from "../declare-command.ts";

export function addRecordCommand(program: Command): void {
  declareCommand(program, "record", { server: "refused" })
    .description("turn a session into a test case with its messages, files and model answers")
    .argument("<session>", "session id, or its first or last characters")
    .option("--suite <file>", "suite to add the case to; created if missing (default: AGENT.test.yaml)")
    .option("--name <name>", "case name (default: from the first message)")
    .option("-a, --agent <file>", "agent file (default: the agent.yaml next to the suite, or a new file)")
    .option("--allow-side-effects", "re-run calls that may have side effects, such as commands")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan record 3f2a91bc --suite review.test.yaml")
    .action(async (session: string, flags: RecordFlags) => {
      process.exitCode = await (await import("./record.ts")).record(session, flags);
    });
}
