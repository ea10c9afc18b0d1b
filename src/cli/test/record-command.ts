import type { Command } from "commander";
import type { RecordFlags } from "./record.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addRecord(program: Command): void {
  declareCommand(program, "record", { server: "refused" })
    .description("make a case of a past session: its messages, files and answers, and what the model said")
    .argument("<session>", "the id, or its beginning or end")
    .option("--suite <file>", "the suite that gets the case; made when it is not there (default: AGENT.test.yaml)")
    .option("--name <name>", "the name of the case (default: how the session began)")
    .option("-a, --agent <file>", "the agent's file (default: the agent.yaml beside the suite, or a new file)")
    .option("--allow-side-effects", "make calls again that may do something beyond the files, such as commands")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan record 3f2a91bc --suite review.test.yaml")
    .action(async (session: string, flags: RecordFlags) => {
      process.exitCode = await (await import("./record.ts")).record(session, flags);
    });
}
