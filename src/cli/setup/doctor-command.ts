import type { Command } from "commander";
import { declareCommand } from "../declare-command.ts";

export function addDoctorCommand(program: Command): void {
  declareCommand(program, "doctor", { server: "ignored" })
    .description("check this machine, and show how to fix each problem")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan doctor")
    .action(async (flags: { json?: boolean }) => {
      process.exitCode = await (await import("./doctor.ts")).doctor(flags);
    });
}
