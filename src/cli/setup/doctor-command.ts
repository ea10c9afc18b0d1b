import type { Command } from "commander";

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check this machine, and say what to do about each problem")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ capstan doctor")
    .action(async (flags: { json?: boolean }) => {
      process.exitCode = await (await import("./doctor.ts")).doctor(flags);
    });
}
