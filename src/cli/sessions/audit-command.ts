import type { Command } from "commander";
import type { ExportAuditFlags, VerifyFlags } from "./audit.ts";
import { declareCommand } from "../declare-command.ts";

export function addAuditCommand(program: Command): void {
  const audit = program.command("audit").description("check whether the store was tampered with");
  audit.addHelpText("after", "\nExample:\n  $ capstan audit verify");
  declareCommand(audit, "verify", { server: "refused" })
    .description("check every log, signature and deletion; exit code 3 if something is wrong")
    .option("-s, --session <id>", "only this session (id, or its first or last characters)")
    .option("-f, --file <file>", "check a file from `audit export` instead of the store")
    .option("-k, --key <key>", "with --file: public key to trust, as its id or in base64")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan audit verify")
    .action(async (flags: VerifyFlags) => {
      process.exitCode = await (await import("./audit.ts")).verify(flags);
    });
  declareCommand(audit, "export", { server: "refused" })
    .description("write events, hashes, signatures and the public key as JSON lines, for others to verify")
    .option("-s, --session <id>", "only this session (id, or its first or last characters)")
    .option("--since <time>", "only sessions active since then: a duration such as 7d, or a date")
    .option("-o, --output <file>", "file to write (default: standard output)")
    .addHelpText("after", "\nExample:\n  $ capstan audit export --since 30d -o audit.jsonl")
    .action(async (flags: ExportAuditFlags) => (await import("./audit.ts")).exportAudit(flags));
  declareCommand(audit, "accept", { server: "refused" })
    .description("sign the current store as legitimate, after you lost the key or moved or replaced the store")
    .requiredOption("--reason <text>", "what happened; signed, and shown by every later verification")
    .addHelpText("after", '\nExample:\n  $ capstan audit accept --reason "the key was lost with the old disk"')
    .action(async (flags: { reason: string }) => (await import("./audit.ts")).accept(flags.reason));
}
