import type { Command } from "commander";
import type { ValidateFlags } from "./validate.ts";
import { declareCommand } from "../declare-command.ts";

export function addValidateCommand(program: Command): void {
  declareCommand(program, "validate", { server: "ignored" })
    .description("check an agent file and everything it references")
    .argument("[file]", "agent file", "agent.yaml")
    .option("--import", "also load its functions, which runs their code, and list their tools")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  $ capstan validate\n  $ capstan validate reviewer.yaml --json")
    .action(async (file: string, flags: ValidateFlags) => {
      await import("./zod-jitless.ts");
      process.exitCode = await (await import("./validate.ts")).validate(file, flags);
    });
}
