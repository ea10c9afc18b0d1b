import type { Command } from "commander";
import type { ExportFlags, VerifyFlags } from "./audit.ts";
import { declareCommand } from "../target/declare-command.ts";

export function addAudit(program: Command): void {
  const audit = program.command("audit").description("find out whether the store was tampered with");
  audit.addHelpText("after", "\nExample:\n  $ capstan audit verify");
  declareCommand(audit, "verify", { server: "refused" })
    .description("check every log, signature and deletion; ends with exit code 3 when something is wrong")
    .option("-s, --session <id>", "only this session: the id, or its beginning or end")
    .option("-f, --file <file>", "check a file made by `audit export` instead of the store")
    .option("-k, --key <key>", "with --file: the id of the public key to trust, or the key itself in base64")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan audit verify")
    .action(async (flags: VerifyFlags) => {
      process.exitCode = await (await import("./audit.ts")).verify(flags);
    });
  declareCommand(audit, "export", { server: "refused" })
    .description("write events, hashes, signatures and the public key as JSON lines, for others to check")
    .option("-s, --session <id>", "only this session: the id, or its beginning or end")
    .option("--since <time>", "only sessions active since then: a duration such as 7d, or a date")
    .option("-o, --output <file>", "where to write; standard output when it is left out")
    .addHelpText("after", "\nExample:\n  $ capstan audit export --since 30d -o audit.jsonl")
    .action(async (flags: ExportFlags) => (await import("./audit.ts")).exportTo(flags));
  declareCommand(audit, "accept", { server: "refused" })
    .description(
      "sign that the store is legitimate as it is: after a lost key, or a store you moved or replaced yourself",
    )
    .requiredOption("--reason <text>", "what happened; it is signed and shown by every later verification")
    .addHelpText("after", '\nExample:\n  $ capstan audit accept --reason "the key was lost with the old disk"')
    .action(async (flags: { reason: string }) => (await import("./audit.ts")).accept(flags.reason));
}
